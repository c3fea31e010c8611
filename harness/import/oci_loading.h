// Container runtimes, and what makes them refuse to load a profile. Owns the runtimes' names and
// the table of refusals (README.md names its sources). It must not know how a profile is read
// (import_oci.h).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

enum class Runtime : std::uint8_t { kRunc, kCrun, kYouki, kPodman };
// In the order of Runtime.
inline constexpr std::array<std::string_view, 4> kRuntimeNames = {"runc", "crun", "youki",
                                                                  "podman"};
using RuntimeSet = std::bitset<kRuntimeNames.size()>;

inline RuntimeSet every_runtime() { return RuntimeSet().set(); }
// Returns the runtimes with these names; every runtime if there are none.
RuntimeSet runtimes_named(std::span<const std::string> names);
// Returns "runc, crun and podman".
std::string runtimes_text(RuntimeSet runtimes);

// Some runtimes refuse to load the profile.
struct LoadFailure {
  RuntimeSet runtimes;
  std::string reason;
  RulePosition position;

  // Returns "profile.json:2 (syscalls[0]): crun does not load this profile: ..."
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string problem() const;  // the same text without the position
};

enum class LoadCondition : std::uint8_t {
  kLargeErrno,       // the data of SCMP_ACT_ERRNO is kMaxErrno or above
  kUnusedErrno,      // an errno is given for an action without one
  kByteOrders,       // the architectures have both byte orders
  kNotifyDefault,    // the default action is SCMP_ACT_NOTIFY
  kNotifyWrite,      // an entry for `write` has the action SCMP_ACT_NOTIFY
  kEmptyName,        // an entry has an empty name
  kErrnoName,        // the name of an errno is unknown
  kUnusedErrnoName,  // the name of an errno is given for an action without one
  kRepeatedTests,    // an entry repeats the tests of one that has another action
};

// Returns the failure of the runtimes that check `condition`. `found` is what the profile has
// there; it ends the reason.
LoadFailure load_failure(LoadCondition condition, std::string_view found, RulePosition position);

// Return the runtimes that do not know the name of an architecture in "architectures", or of a flag
// in "flags".
RuntimeSet without_arch(std::string_view name);
RuntimeSet without_flag(std::string_view name);

// Returns an error if none of `runtimes` loads a profile with these failures. Errors: kRejected.
Status check_loads(std::span<const LoadFailure> failures, RuntimeSet runtimes);

}  // namespace secequiv
