// The decision-diagram engine: are two programs the same function of their input? Because diagrams
// are canonical, they are exactly if their roots are one node. It must not know Z3 (verify/smt):
// what it cannot decide within its limits it says.
#pragma once

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// kEquivalent, kDifferent with the smallest witness (fewest non-zero words, then the smallest
// values from nr on; replayed), or kUnknown with `detail` saying that the limits are reached.
// Preconditions: check() accepts both programs (the length rule aside). Errors: kInternal if a
// witness does not replay.
Result<Proof> prove(const Pair& pair, const Limits& limits = {});

}  // namespace secequiv::dd
