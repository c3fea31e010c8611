// The prover of a campaign in which every answer has to be proven. Owns its order: quick diagrams,
// then all engines. It must not know campaigns.
#pragma once

#include "fuzz/hunt/assess.h"

namespace secequiv {

// Returns a prover that runs all engines on the questions that hunt::diagram_prover() leaves open.
// It spends at most 10 seconds on each question, and runs no engine after `seconds` from now.
hunt::Prover complete_prover(double seconds);

}  // namespace secequiv
