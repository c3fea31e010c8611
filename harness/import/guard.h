// Guards in container profiles: they state for which hosts and containers a part of a profile
// applies. Owns the comparison of two profiles' parts for other hosts and containers. It must not
// know the JSON form (import_oci.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv {

// The "includes" and "excludes" of an entry.
struct Guard {
  struct Filter {
    std::vector<std::string> caps = {};
    std::vector<std::string> arches = {};
    std::optional<std::pair<unsigned, unsigned>> min_kernel = {};
    std::string kernel_text = {};  // min_kernel as the profile has it
  };
  Filter includes = {};
  Filter excludes = {};

  [[nodiscard]] bool always() const { return text().empty(); }
  // Returns whether a part with this guard applies wherever a part with the guard `other` does. It
  // compares lists only, so it may miss that two guards contradict each other.
  [[nodiscard]] bool covers(const Guard& other) const;
  // "includes CAP_SYS_ADMIN, excludes s390x", or "".
  [[nodiscard]] std::string text() const;
};

// One system call of an entry, or an element of archMap that is not for this host.
struct ProfilePart {
  std::string name;     // name of the call, or ""
  std::string content;  // equal for equal parts, whatever their calls and guards
  Guard guard;
  bool applies = false;  // whether it is for the host and container that were given
  RulePosition position = {};
};

// Returns the positions of the parts that are not for every host and container, in the order of the
// file. Each `condition` names the architecture or the guard.
std::vector<RulePosition> for_some_hosts(std::span<const ProfilePart> parts);

// Returns the positions of the parts that may make the profiles differ for other hosts or
// containers. A comparison for the given host and container does not show these differences.
std::vector<RulePosition> not_compared(std::span<const ProfilePart> before,
                                       std::span<const ProfilePart> after);

}  // namespace secequiv
