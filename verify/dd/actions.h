// System calls whose action does not depend on anything but their number. Owns which architectures
// a filter tells apart.
#pragma once

#include <map>
#include <vector>

#include "harness/seccomp/arch.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

struct ArchActions {
  Arch arch;
  std::map<std::uint32_t, std::vector<std::uint32_t>> constant;  // by return value: the numbers
  std::vector<std::uint32_t> others;  // what instruction_pointer or arguments decide
};

// Of every system call in the tables of the architectures for which the filters decide differently
// than for an unknown one; of `host` if there is none. Meaningless if the space is exhausted.
std::vector<ArchActions> constant_actions(Space& space, const Decisions& decisions, Arch host);

}  // namespace secequiv::dd
