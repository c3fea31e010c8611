// System call profiles: how often a program makes each system call. Owns these counts, and which
// number a name in a profile stands for. It must not know the text forms of profiles
// (import/read_profile.h), filters, or what a call costs (coverage/cost.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv {

struct SyscallCount {
  std::string name;
  std::uint64_t calls;

  friend bool operator==(const SyscallCount&, const SyscallCount&) = default;
};

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
