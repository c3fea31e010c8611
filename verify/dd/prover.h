// Proves pairs by the thousand a second, the cheap ways first. Owns their order. It must not know
// how any of them works.
#pragma once

#include "verify/dd/engine.h"
#include "verify/dd/lockstep.h"

namespace secequiv::dd {

// Keeps its memory from one question to the next.
class Prover {
 public:
  // As dd::prove, but Proof::engine is "identical" for programs that are, "lockstep" if walking the
  // two side by side shows that they are the same, and "dd" otherwise. The limits are those of the
  // diagrams; what they leave undecided is kUnknown.
  Result<Proof> prove(const Question& question, const Limits& limits = {});
  Result<Proof> prove(const Pair& pair, const Limits& limits = {}) {
    return prove(Question(pair), limits);
  }

 private:
  [[nodiscard]] const char* same_without_diagrams(const Question& question);

  Lockstep lockstep_;
};

}  // namespace secequiv::dd
