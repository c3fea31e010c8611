// The prover of a campaign in which every answer has to be proven. Owns its order: quick diagrams,
// then all engines. It must not know campaigns.
#pragma once

#include "fuzz/hunt/assess.h"

namespace secequiv {

// Returns a prover that asks all engines about what hunt::diagram_prover() leaves open: for at most
// 10 seconds each, and for `seconds` in total from now on.
hunt::Prover complete_prover(double seconds);

}  // namespace secequiv
