// What a program returns, by everybody who can tell: an evaluator under test (ours), coverage runs,
// decision diagrams, and the naive evaluator. Owns the comparison. It must not know where programs
// come from.
#pragma once

#include <span>
#include <string>

#include "harness/adapter/interfaces.h"

namespace secequiv::fuzz {

// Who disagrees about what, a sentence; empty if nobody does. Precondition: check() accepts the
// program. `diagrams` counts the programs that the diagrams had an answer for within their limits.
std::string disagreement(Evaluator& evaluator, ProgramView program,
                         std::span<const InputWords> inputs, std::uint64_t& diagrams);

}  // namespace secequiv::fuzz
