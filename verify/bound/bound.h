// Owns lower bounds for every filter that decides as a given stack does: how many instructions
// calls execute on average, and how many the filter has. README.md states what they hold for and
// has the proofs. It must not know how a filter is optimized.
#pragma once

#include "harness/base/result.h"
#include "harness/coverage/cost.h"
#include "harness/coverage/lower_bound.h"
#include "harness/seccomp/profile.h"
#include "verify/dd/space.h"

namespace secequiv::bound {

// Returns the bounds. The mean covers the inputs that `profile_cost` covers
// (harness/coverage/cost.h): those that the stack allows or, if it allows none, all inputs of the
// call. Precondition: the kernel accepts each filter, except that it may be too long. Errors:
// kBudget, with the reason, if a limit is reached or if the filter is of a kind without a bound: it
// computes return values, or compares arch or nr with other words.
Result<LowerBound> lower_bound(FilterStack stack, Arch arch, std::span<const SyscallCount> profile,
                               const dd::Limits& limits);

}  // namespace secequiv::bound
