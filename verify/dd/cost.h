// How many instructions a program executes over all inputs: the exact least, mean and most. Owns
// the pass that computes, for each instruction, how many were executed before it. coverage/cost.h
// measures derived inputs.
#pragma once

#include "harness/base/result.h"
#include "harness/coverage/cost.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// Preconditions: check() accepts the program (the length rule aside). Errors: kBudget if the limits
// are reached, kInternal if an input does not execute as many instructions as it should when run.
Result<ExactCost> exact_cost(ProgramView program, std::uint32_t audit, std::uint32_t nr,
                             const Limits& limits);

// The smallest input of all 2^512 that executes the most instructions. Preconditions and errors as
// above.
Result<WorstInput> exact_worst(ProgramView program, const Limits& limits);

}  // namespace secequiv::dd
