// Finds the system calls whose action depends on their number alone, for each architecture that
// matters to a filter. Owns this search. It must not know instructions (backward.h).
#pragma once

#include <map>
#include <vector>

#include "harness/seccomp/arch.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// An AUDIT_ARCH value that no architecture has.
inline constexpr std::uint32_t kUnknownAudit = 0;

// Returns a number that no call has.
constexpr std::uint32_t unused_number(Arch arch) {
  return arch == Arch::kX32 ? 0x7fffffff : 0x3fffffff;
}

struct ArchActions {
  Arch arch;
  std::map<std::uint32_t, std::vector<std::uint32_t>> constant;  // maps a return value to numbers
  std::vector<std::uint32_t> others;  // the action depends on instruction_pointer or arguments
};

struct Actions {
  // The architectures that the filters treat differently from an unknown one. The list also has
  // those whose programs `host` runs if it would otherwise be empty, or if the action for an
  // unknown architecture depends on the call.
  std::vector<ArchActions> arches;
  bool others_by_number = false;  // the actions of the other architectures depend on the call
};

// The result is meaningless if the space is exhausted.
Actions constant_actions(Space& space, const Decisions& decisions, Arch host);

}  // namespace secequiv::dd
