// How often a program makes which system call. Owns the forms such counts come in: the tables of
// `strace -c`, lines of names and numbers, JSON. It must not know filters or what a call
// costs (coverage/cost.h).
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

// The counts written in `text`, most frequent first, then by name; a call that stands there more
// than once is added up, so tables of several ABIs become one. Accepted, by content:
//   - what `strace -c` prints: one table or more, any columns (-U) of which two are calls and
//     syscall, in any locale, also among the lines strace prints of itself ("strace: ...");
//   - lines `name calls`; both forms may have blank lines and lines that start with '#';
//   - JSON: an object {"futex": 870063}, or a list [{"name": "futex", "calls": 870063}].
// Names are not looked up. Errors: kParse with file:line (JSON: file:line:column), also for a table
// that is cut off, a sum above 2^64-1, and a text without counts.
Result<std::vector<SyscallCount>> read_profile(std::string_view text, const std::string& name);

// Number of a profile's name on `arch`; also of what strace calls a number that it has no name for,
// "syscall_0x1d7".
std::optional<std::uint32_t> profile_nr(Arch arch, std::string_view name);

// The names of `profile` that none of `arches` has.
std::vector<std::string> unknown_calls(std::span<const SyscallCount> profile,
                                       std::span<const Arch> arches);
inline std::vector<std::string> unknown_calls(std::span<const SyscallCount> profile, Arch arch) {
  return unknown_calls(profile, std::span(&arch, 1));
}

}  // namespace secequiv
