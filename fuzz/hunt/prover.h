// The prover that assess() uses, and its limits. It must not know where the programs come from.
#pragma once

#include "fuzz/hunt/assess.h"

namespace secequiv::hunt {

// Steps of diagram operations for a program of no length, where thousands are proven a second.
inline constexpr std::size_t kNarrowSteps = std::size_t{1} << 15;

// No solver, which would take minutes for what diagrams leave open, so that is said. What a user
// gave is proven by diagrams; for the rest dd::Prover tries cheaper ways first, and the diagrams'
// limits are narrow: they grow with the programs from `steps` on.
Prover diagram_prover(std::size_t steps = kNarrowSteps);

}  // namespace secequiv::hunt
