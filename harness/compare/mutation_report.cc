#include "harness/compare/mutation_report.h"

namespace secequiv {

MutationCounts& MutationCounts::operator+=(const MutationCounts& other) {
  mutants += other.mutants;
  by_inputs += other.by_inputs;
  by_fuzzing += other.by_fuzzing;
  survived += other.survived;
  equivalent += other.equivalent;
  undecided += other.undecided;
  refused += other.refused;
  proofs += other.proofs;
  proven_different += other.proven_different;
  unproven += other.unproven;
  return *this;
}

MutationCounts MutationReport::total() const {
  MutationCounts sum;
  for (const MutationCounts& counts : operators) sum += counts;
  return sum;
}

Verdict MutationReport::verdict() const {
  const MutationCounts sum = total();
  if (sum.survived > 0) return Verdict::kFail;
  return !listed || sum.undecided + sum.unproven + not_tried > 0 ? Verdict::kUnknown
                                                                 : Verdict::kPass;
}

}  // namespace secequiv
