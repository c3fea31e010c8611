// The decision-diagram engine: are two filters the same function of their input? Diagrams are
// canonical, so this is a comparison of two roots. Beyond its limits it answers kUnknown. It must
// not know Z3 (verify/smt).
#pragma once

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// kEquivalent, kDifferent with the smallest witness (fewest non-zero words, then the smallest
// values from nr on; replayed), or kUnknown with the limit in `detail`. If the question is whether
// `after` refines `before`: kPass if it does without being the same.
// Preconditions: check() accepts all programs (the length rule aside). Errors: kUsage if no input
// meets the assumption; kInternal if a witness does not replay.
Result<Proof> prove(const Question& question, const Limits& limits = {});
inline Result<Proof> prove(const Pair& pair, const Limits& limits = {}) {
  return prove(Question(pair), limits);
}

}  // namespace secequiv::dd
