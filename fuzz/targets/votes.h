// Owns comparing the return values of a program in an evaluator under test (ours), coverage runs,
// decision diagrams and the naive evaluator. It must not know where programs come from.
#pragma once

#include <span>
#include <string>

#include "harness/adapter/interfaces.h"

namespace secequiv::fuzz {

// Returns a sentence that names the first disagreement, or "". Counts in `diagrams` the programs
// that diagrams decide within their limits. Precondition: the kernel accepts the program.
std::string disagreement(Evaluator& evaluator, ProgramView program,
                         std::span<const SeccompData> inputs, std::uint64_t& diagrams);

}  // namespace secequiv::fuzz
