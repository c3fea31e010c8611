// The prover of a campaign in which every answer has to be proven. Owns its order: quick diagrams,
// then `decide`, which tries one engine after the other. It must not know campaigns.
#pragma once

#include "fuzz/hunt/assess.h"

namespace secequiv {

// Returns a prover that passes the questions that hunt::diagram_prover() leaves open to `decide`.
// It spends at most 10 seconds on each of them, and starts no engine after `seconds` from now.
hunt::Prover complete_prover(double seconds);

}  // namespace secequiv
