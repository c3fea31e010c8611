#include "verify/dd/prover.h"

#include <algorithm>

namespace secequiv::dd {

// By what the programs are shown to be the same for all inputs; nullptr if they are not.
const char* Prover::same_without_diagrams(const Question& question) {
  // Under an assumption that no input meets, nothing may be called proven.
  if (!question.assumption.nodes.empty()) return nullptr;
  // The same numbers may stand for different names.
  if (!question.symbols.empty()) return nullptr;
  if (std::ranges::equal(question.before, question.after, std::ranges::equal)) return "identical";
  if (question.before.size() != 1 || question.after.size() != 1) return nullptr;
  return lockstep_.same(question.before[0], question.after[0], question.sameness) ? "lockstep"
                                                                                  : nullptr;
}

Result<Proof> Prover::prove(const Question& question, const Limits& limits) {
  const char* const engine = same_without_diagrams(question);
  if (engine == nullptr) return dd::prove(question, limits);
  Proof proof;
  proof.verdict = Verdict::kEquivalent;
  proof.engine = engine;
  proof.relation = Relation::kEqual;
  return proof;
}

}  // namespace secequiv::dd
