// Merges filters into one policy: their intersection, which allows what all of them allow, or their
// union, which allows what any of them allows. Owns the merged policy's name, description and hot
// calls, and the proof that an intersection is never more permissive than a filter. It must not
// know files, or how the rules are found (lift.h).
#pragma once

#include <vector>

#include "analyze/lift.h"

namespace secequiv {

struct MergeJob {
  std::vector<Source> filters;  // at least two
  Combination combination = Combination::kStack;
  Arch host = Arch::kX86_64;  // the architecture of the policy if the filters test none
  dd::Limits limits = {};
};

// Returns the policy, which is proven for all inputs to decide as the stack of the filters does, or
// to return the most permissive of their results. If the actions of several filters are equal, the
// first of these filters gives the data. Errors: those of lift(); also kPolicy if the stack is more
// permissive than one of its filters, which only an action that the kernel does not know can cause.
Result<Lifted> merge(const MergeJob& job);

}  // namespace secequiv
