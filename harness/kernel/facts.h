// What differs between kernels: by version, by architecture, by entry. Owns these facts, in one
// table each. It must not know how a kernel is asked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace secequiv::kernel {

// Something that our model assumes and that older kernels lack.
struct Fact {
  int major;
  int minor;
  std::string_view what;  // "SECCOMP_RET_LOG"
};

// Returns the facts, by version.
std::span<const Fact> facts();
// Returns the facts that a kernel with this release lacks: "4.9.0-19-s390x" lacks SECCOMP_RET_LOG.
// A release without a version counts as new.
std::vector<Fact> lacking(std::string_view release);

// Returns whether no filter sees this call: uretprobe and uprobe (335, 336 on x86_64) in recent
// kernels. Source: __secure_computing's callers; seccomp_uprobe_exception (kernel/seccomp.c).
bool bypasses_filters(std::uint32_t audit, std::uint32_t nr);

// Returns the number that filters see if a program makes a call with this number and first
// argument.
std::uint32_t number_seen(std::uint32_t audit, std::uint32_t nr, std::uint64_t first_argument);
// Returns whether filters see something that the call does not determine: for some numbers of MIPS,
// they see the caller's stack in place of arguments.
bool sees_stack(std::uint32_t audit, std::uint32_t nr);
// Returns the argument that filters see if a 32-bit program passes the low half of `value`.
std::uint64_t argument_seen(std::uint32_t audit, std::uint64_t value);

}  // namespace secequiv::kernel
