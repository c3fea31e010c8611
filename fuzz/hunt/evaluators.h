// Fuzzing an interpreter: what it says a program returns against what our interpreter says. Owns
// the loop and the reduction of its findings. The proof engines have no part in it.
#pragma once

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// `inputs`, if any, are run on every given program before derived ones. Findings are kDifferent
// (`witness.before` is our value, `after` the evaluator's), and answers that are none. Programs
// longer than 4096 instructions are not asked about. Errors: kInternal.
Result<HuntReport> hunt_evaluator(const std::string& name, Evaluator& evaluator,
                                  ProgramSource& source, std::span<const InputWords> inputs,
                                  const HuntOptions& options);

}  // namespace secequiv::hunt
