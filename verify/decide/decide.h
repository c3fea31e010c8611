// Owns the choice of the engine that answers a question: when one hands over to the other, and that
// both must agree if both run.
#pragma once

#include <cstdint>

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/dd/engine.h"

namespace secequiv {

enum class Engine : std::uint8_t {
  kZ3,    // the solver
  kDd,    // decision diagrams; beyond their limits, the solver
  kBoth,  // both; contradicting verdicts are an error
};

struct Budget {
  double timeout_seconds = 60;    // time limit of the solver
  std::size_t solver_mib = 4096;  // memory limit of the solver
  dd::Limits diagrams = {};
  double spent_seconds = 0;  // of timeout_seconds, before this question

  // What is left after this many seconds; messages still name the whole limit.
  [[nodiscard]] Budget after(double seconds) const;
};

// Returns limits for diagrams that use up to `mib` of memory and that no solver follows.
dd::Limits limits_alone(std::size_t mib);

// Returns limits within a user's time and memory that leave time for the solver.
Budget budget_for(double seconds, std::size_t mib);

// The proof's `engine` names what decided. Precondition: the kernel accepts all programs, except
// that they may be too long. Errors: kUsage if no input meets the assumption; kInternal if a
// witness does not replay or the engines contradict each other.
Result<Proof> decide(const Question& question, Engine engine, const Budget& budget);

}  // namespace secequiv
