// What a program executes over all inputs: exactly how many instructions at least, on average and
// at most. Owns the pass in which each instruction is told how many were executed before it.
// Derived inputs are coverage/cost.h's.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/coverage/cost.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// A number that need not be whole.
struct Ratio {
  double value = 0;   // the nearest double towards 0
  std::string exact;  // in lowest terms: "17/2", "4"
};

// Of the 2^448 inputs with one arch and one nr.
struct ExactCost {
  WorstInput least;  // the smallest input (smallest.h) that executes fewest, and how many
  WorstInput most;
  // Of the inputs that the program allows, whatever the data bits of its ALLOW, each as likely as
  // the others; of all if it allows none.
  Ratio mean;
  Ratio jumps;  // taken, as in CallCost
  bool allowed = false;
  std::string inputs;  // how many mean and jumps are over, decimal
};

// Preconditions: check() accepts the program (the length rule aside). Errors: kBudget if the limits
// are reached, kInternal if an input does not execute as many instructions as it should when run.
Result<ExactCost> exact_cost(ProgramView program, std::uint32_t audit, std::uint32_t nr,
                             const Limits& limits);

// The smallest of all 2^512 inputs that execute most. The same preconditions and errors.
Result<WorstInput> exact_worst(ProgramView program, const Limits& limits);

}  // namespace secequiv::dd
