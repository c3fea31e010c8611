// Owns the exact numbers of instructions that a filter, or several stacked on each other, execute
// over all inputs: least, mean and most. It computes, for each instruction, how many were executed
// before it. coverage/cost.h measures derived inputs instead.
#pragma once

#include "harness/base/result.h"
#include "harness/coverage/cost.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// Precondition: the kernel accepts each program, except that it may be too long. Errors: kBudget if
// a limit is reached; kInternal if an input, when run, does not execute the computed number of
// instructions.
Result<ExactCost> exact_cost(FilterStack stack, std::uint32_t audit, std::uint32_t nr,
                             const Limits& limits);

// Returns the smallest of all 2^512 inputs that execute the most instructions. Preconditions and
// errors as above.
Result<WorstInput> exact_worst(FilterStack stack, const Limits& limits);

}  // namespace secequiv::dd
