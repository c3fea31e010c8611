// Owns the choice of the engine that answers a question: when other engines run after the diagrams,
// and the rule that diagrams and Z3 must agree if both run. It must not know how engines work.
#pragma once

#include <cstdint>

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/dd/engine.h"

namespace secequiv {

enum class Engine : std::uint8_t {
  kZ3,
  kDd,    // decision diagrams; beyond their limits, the SAT engine, then Z3
  kBoth,  // decision diagrams and Z3; contradicting verdicts are an error
  kSat,   // the SAT engine; it decides no edges, so diagrams do
};

struct Budget {
  double timeout_seconds = 60;    // time limit of the solvers
  std::size_t solver_mib = 4096;  // memory limit of each solver
  dd::Limits diagrams = {};
  double spent_seconds = 0;  // part of timeout_seconds that was spent before this question

  // Returns the budget that remains after this many seconds. Messages still name the whole limit.
  [[nodiscard]] Budget after(double seconds) const;
};

// Returns limits for diagrams that use up to `mib` MiB of memory, if no solver runs after them.
dd::Limits limits_alone(std::size_t mib);

// Returns limits within a user's time and memory that leave time for the solver.
Budget budget_for(double seconds, std::size_t mib);

// Answers the question. The proof's `engine` names the engine that decided. Precondition: the
// kernel accepts all programs, except that they may be too long. Errors: kUsage if no input meets
// the assumption; kInternal if a witness does not replay or the engines contradict each other.
Result<Proof> decide(const Question& question, Engine engine, const Budget& budget);

}  // namespace secequiv
