// Owns the prover that assess() uses, and its limits. It must not know where the programs come
// from.
#pragma once

#include "fuzz/hunt/assess.h"

namespace secequiv::hunt {

// The basic limit of diagram steps for a program; its length adds more. This allows thousands of
// proofs each second.
inline constexpr std::size_t kNarrowSteps = std::size_t{1} << 15;

// Returns a prover without a solver: where diagrams do not decide, a solver would take minutes.
// Thorough proofs have the diagrams' default limits. Other proofs first try the cheaper methods of
// dd::Prover; their limits are `steps` plus a part that grows with the programs.
Prover diagram_prover(std::size_t steps = kNarrowSteps);

}  // namespace secequiv::hunt
