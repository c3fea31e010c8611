// The prover that assess() uses, and its limits. It must not know where the programs come from.
#pragma once

#include "fuzz/hunt/assess.h"

namespace secequiv::hunt {

// Diagram steps before the program's length adds to them. Thousands of programs are proven a
// second.
inline constexpr std::size_t kNarrowSteps = std::size_t{1} << 15;

// Uses no solver: it would take minutes for what diagrams leave undecided. A user's own programs
// get the diagrams' full limits. For others dd::Prover tries cheaper ways first, and the limits
// start at `steps` and grow with the programs.
Prover diagram_prover(std::size_t steps = kNarrowSteps);

}  // namespace secequiv::hunt
