// Owns deciding whether any input meets an obligation of a program. Diagrams run first; beyond
// their limits the solver runs. If both run, they must agree. One time limit covers all obligations
// of a program. It must not know why an obligation is uncovered.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "verify/decide/decide.h"

namespace secequiv {

class FeasibilityDecider {
 public:
  // Preconditions: the kernel accepts `program`, except that it may be too long, and `program`
  // outlives this object.
  FeasibilityDecider(const Program& program, const Engine& engine, const Budget& budget);
  ~FeasibilityDecider();
  FeasibilityDecider(const FeasibilityDecider&) = delete;
  FeasibilityDecider& operator=(const FeasibilityDecider&) = delete;

  // Returns kUnknown if the solver takes longer than `timeout_seconds`. Errors: kInternal if a
  // witness does not replay or the engines contradict each other.
  Result<Feasibility> query(const Obligation& obligation, double timeout_seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Decides every obligation of coverage.program() that is uncovered when its turn comes; `take` may
// cover more by running witnesses through `coverage`. `take` receives each answer and returns
// whether to continue. Once the time is over, the remaining answers are kUnknown. `infeasible` has
// obligations that are proven infeasible and are not decided again. Errors: kInternal.
Status account_for_edges(const CoverageMap& coverage, const Engine& engine, const Budget& budget,
                         const std::function<bool(const Feasibility&)>& take,
                         std::span<const Obligation> infeasible = {});

}  // namespace secequiv
