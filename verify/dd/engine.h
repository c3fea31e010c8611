// Owns the decision-diagram engine. Diagrams are canonical, so two filters are the same function of
// their input if and only if their roots are the same node. Beyond its limits it answers kUnknown.
// It must not know Z3 (verify/smt).
#pragma once

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

// Returns kEquivalent, kDifferent with the smallest witness (fewest non-zero words, then the
// smallest values from nr on; replayed), or kUnknown with the limit in `detail`. If the goal is
// kRefines, kPass means that `after` refines `before` without being equivalent. Preconditions: the
// kernel accepts all programs, except that they may be too long. Errors: kUsage if no input meets
// the assumption; kInternal if a witness does not replay.
Result<Proof> prove(const Question& question, const Limits& limits = {});
inline Result<Proof> prove(const Pair& pair, const Limits& limits = {}) {
  return prove(Question(pair), limits);
}

}  // namespace secequiv::dd
