// Computes whether a filter became more or less permissive, for each system call. Owns dividing a
// difference into newly allowed, looser, stricter and other inputs, and the choice of the input to
// show. It must not know how the result is shown.
#pragma once

#include "harness/base/result.h"
#include "harness/compare/direction.h"
#include "verify/dd/engine.h"

namespace secequiv::dd {

// Returns every kind of difference under the question's assumption. It ignores the question's goal.
// If the difference does not depend on the architecture, it lists the calls of `host`.
// Preconditions: those of prove(), and the question has no symbols. Errors: kBudget if the limits
// are reached, kUsage if no input meets the assumption, kInternal if the example does not differ
// when run.
Result<Direction> direction(const Question& question, Arch host, const Limits& limits = {});

}  // namespace secequiv::dd
