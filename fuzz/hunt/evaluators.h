// Owns fuzzing an interpreter: the loop that compares its return values with ours, and the
// reduction of its findings. It must not know the provers.
#pragma once

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// Fuzzes `evaluator`. On every program that the user named, it runs `inputs` before derived inputs.
// Findings are kDifferent (`witness.before` is our value, `after` the evaluator's) or requests
// without a usable answer. It skips programs of more than 4096 instructions. Errors: kInternal;
// kUsage if the command cannot be started.
Result<HuntReport> hunt_evaluator(const std::string& name, Evaluator& evaluator,
                                  ProgramSource& source, std::span<const SeccompData> inputs,
                                  const HuntOptions& options);

}  // namespace secequiv::hunt
