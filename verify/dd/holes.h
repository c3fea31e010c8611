// Finds the classes of inputs (harness/seccomp/input_class.h) that a filter refuses for some
// members and allows for others. Owns this search. It must not know rules or reports.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/seccomp/arch.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// Two members of a class. The plain member holds what programs usually pass: the ignored bits of
// each argument are 0 or copies of its sign. "Allowed" means ALLOW or LOG, "refused" means anything
// else: a tracer or a supervisor may allow the call, but it has to be asked.
struct SplitClass {
  Arch arch;
  std::uint32_t nr;
  std::uint8_t arguments;  // bit i: the members differ in argument i
  // true: the refused member is plain, and other ignored bits let the same effect pass. Both
  // members may be plain forms of a negative number, if the filter allows other numbers.
  // false: the allowed member is plain, so the filter only refuses more than it needs to.
  bool hole;
  SeccompData refused;
  SeccompData allowed;
};

// Returns the smallest example for each call and argument, holes first, in the order of
// all_arches() and of numbers. If the filter treats an architecture like an unknown one, its calls
// are searched only if it is the host, or if a process of the host can make its calls and the
// filter decides them differently. The result is meaningless if the space is exhausted.
// Precondition: the decisions are normalized (kBehaviour) and not computed.
std::vector<SplitClass> split_classes(Space& space, const Decisions& decisions, Arch host);

}  // namespace secequiv::dd
