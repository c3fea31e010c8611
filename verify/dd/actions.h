// System calls whose action depends on their number alone. Owns finding out which architectures a
// filter distinguishes.
#pragma once

#include <map>
#include <vector>

#include "harness/seccomp/arch.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

struct ArchActions {
  Arch arch;
  std::map<std::uint32_t, std::vector<std::uint32_t>> constant;  // by return value: the numbers
  std::vector<std::uint32_t> others;  // the action depends on instruction_pointer or arguments
};

// The actions for each architecture that the filters treat differently from an unknown one, or for
// `host` if there is no such architecture. Meaningless if the space is exhausted.
std::vector<ArchActions> constant_actions(Space& space, const Decisions& decisions, Arch host);

}  // namespace secequiv::dd
