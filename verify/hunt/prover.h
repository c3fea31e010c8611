// Which prover answers the judge, and within which limits. It must not know what is judged.
#pragma once

#include "verify/hunt/judge.h"

namespace secequiv::hunt {

// Diagrams alone: a solver would take minutes for what they leave open, so that is said. Narrow
// limits grow with the programs.
Prover diagram_prover();

}  // namespace secequiv::hunt
