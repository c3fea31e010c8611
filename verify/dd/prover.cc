#include "verify/dd/prover.h"

#include <algorithm>

namespace secequiv::dd {

// Returns the name of a cheap proof that the programs are equivalent, or nullptr if there is none.
const char* Prover::same_without_diagrams(const Question& question) {
  // An assumption that no input satisfies must be an error, and only diagrams detect it.
  if (!question.assumption.nodes.empty()) return nullptr;
  // Equal immediates may stand for different symbols.
  if (!question.symbols.empty()) return nullptr;
  if (std::ranges::equal(question.before, question.after, std::ranges::equal)) return "identical";
  if (question.before.size() != 1 || question.after.size() != 1) return nullptr;
  return walk_.same(question.before[0], question.after[0], question.sameness) ? "walk" : nullptr;
}

std::optional<Proof> Prover::without_diagrams(const Question& question) {
  const char* const engine = same_without_diagrams(question);
  if (engine == nullptr) return std::nullopt;
  Proof proof;
  proof.verdict = Verdict::kEquivalent;
  proof.engine = engine;
  proof.relation = Relation::kEqual;
  return proof;
}

Result<Proof> Prover::prove(const Question& question, const Limits& limits) {
  if (auto proof = without_diagrams(question)) return *std::move(proof);
  return dd::prove(question, limits);
}

}  // namespace secequiv::dd
