// Whether any input meets an obligation of a program. Owns the order (diagrams first, the solver
// beyond their limits), the requirement that both agree when both run, and one time limit for all
// of a program's obligations.
#pragma once

#include <functional>
#include <memory>

#include "verify/decide/decide.h"

namespace secequiv {

class FeasibilityOracle {
 public:
  // Precondition: check() accepts `program` (the length rule aside); it outlives this object.
  FeasibilityOracle(const Program& program, Engine engine, const Budget& budget);
  ~FeasibilityOracle();
  FeasibilityOracle(const FeasibilityOracle&) = delete;
  FeasibilityOracle& operator=(const FeasibilityOracle&) = delete;

  // kUnknown after `timeout_seconds` of the solver. Errors: kInternal if a witness does not replay
  // or the engines contradict each other.
  Result<Feasibility> query(const Obligation& obligation, double timeout_seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Decides every obligation of coverage.program() that is uncovered when its turn comes: `take` may
// run witnesses through `coverage`. `take` receives each answer (kUnknown for the rest once the
// budget's time is over) and returns whether to go on. Errors: kInternal.
Status account_for_edges(const CoverageMap& coverage, Engine engine, const Budget& budget,
                         const std::function<bool(const Feasibility&)>& take);

}  // namespace secequiv
