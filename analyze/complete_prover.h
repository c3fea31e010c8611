// The prover of a campaign in which every answer has to be proven. Owns its order: quick diagrams,
// then `decide`, which tries one engine after the other. It must not know campaigns.
#pragma once

#include "fuzz/hunt/assess.h"

namespace secequiv {

// Returns a prover that first asks hunt::diagram_prover() and then, if the answer is kUnknown,
// `decide`. Each call of `decide` gets at most 10 seconds; none starts later than `seconds` from
// now.
hunt::Prover complete_prover(double seconds);

}  // namespace secequiv
