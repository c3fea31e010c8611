// Finds the system calls whose action depends on their number alone, for each architecture that a
// filter distinguishes. Owns this search. It must not know instructions (backward.h).
#pragma once

#include <map>
#include <vector>

#include "harness/seccomp/arch.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// An AUDIT_ARCH value that no architecture has.
inline constexpr std::uint32_t kUnknownAudit = 0;

struct ArchActions {
  Arch arch;
  std::map<std::uint32_t, std::vector<std::uint32_t>> constant;  // maps a return value to numbers
  std::vector<std::uint32_t> others;  // the action depends on instruction_pointer or arguments
};

// Returns the actions for each architecture that the filters treat differently from an unknown one,
// or for `host` if they treat none differently. The result is meaningless if the space is
// exhausted.
std::vector<ArchActions> constant_actions(Space& space, const Decisions& decisions, Arch host);

}  // namespace secequiv::dd
