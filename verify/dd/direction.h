// Whether a filter became more or less permissive, system call by system call. Splits a difference
// into newly allowed, looser, stricter and other, and picks the input to show.
#pragma once

#include "harness/base/result.h"
#include "harness/compare/direction.h"
#include "verify/dd/engine.h"

namespace secequiv::dd {

// Every kind of difference under the question's assumption; its goal is ignored. `host`: the
// architecture whose calls are listed if the difference does not depend on the architecture.
// Preconditions: as for prove(), and the question has no symbols. Errors: kBudget if the limits are
// reached, kUsage if no input meets the assumption, kInternal if the example does not differ when
// run.
Result<Direction> direction(const Question& question, Arch host, const Limits& limits = {});

}  // namespace secequiv::dd
