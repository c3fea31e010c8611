// Compares a program's return values in an evaluator under test (ours), coverage runs, decision
// diagrams and the naive evaluator. Owns the comparison. It must not know where programs come from.
#pragma once

#include <span>
#include <string>

#include "harness/adapter/interfaces.h"

namespace secequiv::fuzz {

// A sentence that names who disagrees about what, or empty. Precondition: check() accepts the
// program. `diagrams` counts the programs that the diagrams decided within their limits.
std::string disagreement(Evaluator& evaluator, ProgramView program,
                         std::span<const SeccompData> inputs, std::uint64_t& diagrams);

}  // namespace secequiv::fuzz
