// Owns the order in which cheap and expensive proofs are tried, so that thousands of pairs can be
// proven in a second. It must not know how they work.
#pragma once

#include <optional>

#include "verify/dd/engine.h"
#include "verify/walk/product_walk.h"

namespace secequiv::dd {

// Keeps its memory from one question to the next.
class Prover {
 public:
  // Returns kEquivalent if a cheap proof without diagrams shows it, otherwise nothing.
  // Proof::engine is "identical" for equal programs, "walk" for the product walk.
  std::optional<Proof> without_diagrams(const Question& question);
  // Calls without_diagrams(), then dd::prove if that shows nothing. The limits apply to the
  // diagrams; beyond them the verdict is kUnknown.
  Result<Proof> prove(const Question& question, const Limits& limits = {});
  Result<Proof> prove(const Pair& pair, const Limits& limits = {}) {
    return prove(Question(pair), limits);
  }

 private:
  [[nodiscard]] const char* same_without_diagrams(const Question& question);

  walk::ProductWalk walk_;
};

}  // namespace secequiv::dd
