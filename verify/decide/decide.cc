#include "verify/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/smt/solver.h"

namespace secequiv {

dd::Limits limits_alone(std::size_t mib) {
  dd::Limits limits;
  limits.steps *= 8;
  limits.nodes =
      std::min(limits.nodes, std::max<std::size_t>((mib << 20) / dd::kBytesPerNode, 1000));
  return limits;
}

Budget budget_for(double seconds, std::size_t mib) {
  Budget out{seconds, mib, limits_alone(mib)};
  out.diagrams.steps = dd::Limits{}.steps;
  out.diagrams.seconds = seconds / 2;
  return out;
}

Budget Budget::after(double seconds) const {
  Budget out = *this;
  out.spent_seconds += seconds;
  out.diagrams.seconds =
      std::min(diagrams.seconds, std::max(timeout_seconds - out.spent_seconds, 0.0));
  return out;
}

Result<Proof> decide(const Question& question, Engine engine, const Budget& budget) {
  if (engine == Engine::kZ3)
    return smt::prove(question, budget.timeout_seconds, budget.solver_mib, budget.spent_seconds);
  const auto start = Clock::now();
  auto diagrams = dd::prove(question, budget.diagrams);
  if (!diagrams) return diagrams;
  if (engine == Engine::kDd && (diagrams->verdict != Verdict::kUnknown || stop_wanted()))
    return diagrams;
  auto solver = smt::prove(question, budget.timeout_seconds, budget.solver_mib,
                           budget.spent_seconds + seconds_since(start));
  if (!solver) return solver;
  if (engine == Engine::kDd) {
    if (solver->verdict == Verdict::kUnknown)
      solver->detail += fmt::format("; diagrams: {}", diagrams->detail);
    return solver;
  }
  // Both engines must decide; a verdict of only one of them is unconfirmed.
  if (diagrams->verdict == Verdict::kUnknown || solver->verdict == Verdict::kUnknown) {
    Proof& undecided = diagrams->verdict == Verdict::kUnknown ? *diagrams : *solver;
    const Proof& other = diagrams->verdict == Verdict::kUnknown ? *solver : *diagrams;
    if (other.verdict == Verdict::kDifferent)
      return other;  // replayed, so it needs no confirmation
    undecided.detail += fmt::format("; {} alone answers '{}', but both engines have to decide",
                                    other.engine, verdict_name(other.verdict));
    return undecided;
  }
  if (diagrams->verdict != solver->verdict ||
      (solver->relation && diagrams->relation != solver->relation))
    return make_error(ErrorCode::kInternal, "engines",
                      fmt::format("diagrams return '{}' and z3 returns '{}'; please report this",
                                  verdict_name(diagrams->verdict), verdict_name(solver->verdict)));
  solver->engine = "dd and z3";
  solver->encode_seconds += diagrams->encode_seconds;
  solver->solve_seconds += diagrams->solve_seconds;
  return solver;
}

}  // namespace secequiv
