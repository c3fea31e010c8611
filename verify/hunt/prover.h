// Which prover answers the judge, and within which limits. It must not know what is judged.
#pragma once

#include "verify/hunt/judge.h"

namespace secequiv::hunt {

// Steps of diagram operations for a program of no length, where thousands are proven a second.
inline constexpr std::size_t kNarrowSteps = std::size_t{1} << 15;

// Diagrams alone: a solver would take minutes for what they leave open, so that is said. Narrow
// limits grow with the programs from `steps` on.
Prover diagram_prover(std::size_t steps = kNarrowSteps);

}  // namespace secequiv::hunt
