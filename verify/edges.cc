#include "verify/edges.h"

#include "harness/base/clock.h"
#include "verify/smt/solver.h"

namespace secequiv {

Status account_for_edges(const CoverageMap& coverage, double timeout_seconds,
                         const std::function<bool(const Feasibility&)>& take) {
  const auto start = Clock::now();
  const auto uncovered = coverage.uncovered();
  if (uncovered.empty()) return Ok{};
  smt::FeasibilityOracle oracle(coverage.program());
  for (const Obligation& obligation : uncovered) {
    if (coverage.covered(obligation)) continue;
    const double left = timeout_seconds - seconds_since(start);
    auto answer = left > 0 ? oracle.query(obligation, left)
                           : Result<Feasibility>(Feasibility{
                                 obligation, Feasibility::Answer::kUnknown, {}, "no time left"});
    if (!answer) return answer.error();
    if (!take(*answer)) break;
  }
  return Ok{};
}

}  // namespace secequiv
