// Owns comparing a program's return values in four evaluators: our interpreter as an evaluator
// under test, coverage runs, decision diagrams and the naive evaluator. It must not know where
// programs come from.
#pragma once

#include <span>
#include <string>

#include "harness/adapter/interfaces.h"

namespace secequiv::fuzz {

// Returns a sentence that names the first disagreement, or "". It increments `diagrams` if diagrams
// evaluate the program within their limits. Precondition: the kernel accepts the program.
std::string disagreement(Evaluator& evaluator, ProgramView program,
                         std::span<const SeccompData> inputs, std::uint64_t& diagrams);

}  // namespace secequiv::fuzz
