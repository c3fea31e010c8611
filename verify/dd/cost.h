// Owns the exact numbers of instructions that a filter or a stack of filters executes over all
// inputs: least, mean and most. The analysis computes how many instructions were executed before
// each instruction. This file must not know profiles. harness/coverage/cost.h measures given inputs
// instead.
#pragma once

#include "harness/base/result.h"
#include "harness/coverage/cost.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// Returns the cost of one system call over all inputs with this arch and number. Precondition: the
// kernel accepts each program, except that it may be too long. Errors: kBudget if a limit is
// reached; kInternal if an input, when run, does not execute the computed number of instructions.
Result<ExactCost> exact_cost(FilterStack stack, std::uint32_t audit, std::uint32_t nr,
                             const Limits& limits);

// Returns the smallest of all 2^512 inputs that execute the most instructions. Preconditions and
// errors are those of exact_cost().
Result<WorstInput> exact_worst(FilterStack stack, const Limits& limits);

}  // namespace secequiv::dd
