// System call profiles: how often a program makes each system call. Owns the text forms of these
// counts: the tables of `strace -c`, lines with a name and a number, and JSON. It must not know
// filters or what a call costs (coverage/cost.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

struct SyscallCount {
  std::string name;
  std::uint64_t calls;

  friend bool operator==(const SyscallCount&, const SyscallCount&) = default;
};

// Reads the counts in `text` and returns them most frequent first, then by name. The counts of a
// call that occurs several times are added, so tables of several ABIs become one profile. The
// content selects the form:
//   - the output of `strace -c`: one or more tables, in any locale, with any columns (-U) that
//     include calls and syscall; strace's own messages ("strace: ...") are skipped;
//   - lines `name calls`; both forms may have blank lines and lines that start with '#';
//   - JSON: an object {"futex": 870063}, or a list [{"name": "futex", "calls": 870063}].
// Names are not looked up. Errors: kParse with file:line (JSON: file:line:column), also for a
// truncated table, a sum above 2^64-1, and a text without counts.
Result<std::vector<SyscallCount>> read_profile(std::string_view text, const std::string& name);

// Returns the number of a profile's name on `arch`. It also accepts "syscall_0x1d7", strace's name
// for a number without one.
std::optional<std::uint32_t> profile_nr(Arch arch, std::string_view name);

// Returns the names of `profile` that no architecture of `arches` has.
std::vector<std::string> unknown_calls(std::span<const SyscallCount> profile,
                                       std::span<const Arch> arches);
inline std::vector<std::string> unknown_calls(std::span<const SyscallCount> profile, Arch arch) {
  return unknown_calls(profile, std::span(&arch, 1));
}

}  // namespace secequiv
