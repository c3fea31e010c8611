#include "verify/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/sat/solver.h"
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

namespace {

using Solver = Result<Proof> (*)(const Question&, double, std::size_t, double);

// Asks diagrams, then the SAT engine with half of the time that is left, then Z3.
Result<Proof> first_answer(const Question& question, const Budget& budget) {
  const auto start = Clock::now();
  auto out = dd::prove(question, budget.diagrams);
  for (const auto& [solver, share] :
       {std::pair<Solver, double>{sat::prove, 0.5}, {smt::prove, 1}}) {
    if (!out || out->verdict != Verdict::kUnknown || stop_wanted()) return out;
    const double spent = budget.spent_seconds + seconds_since(start);
    auto next = solver(question, spent + share * (budget.timeout_seconds - spent),
                       budget.solver_mib, spent);
    if (!next) return next;
    next->encode_seconds += out->encode_seconds;
    next->solve_seconds += out->solve_seconds;
    if (next->verdict == Verdict::kUnknown)
      next->detail += fmt::format("; {}: {}", out->engine, out->detail);
    out = std::move(next);
  }
  return out;
}

}  // namespace

Result<Proof> decide(const Question& question, Engine engine, const Budget& budget) {
  if (engine == Engine::kDd) return first_answer(question, budget);
  if (engine == Engine::kSat)
    return sat::prove(question, budget.timeout_seconds, budget.solver_mib, budget.spent_seconds);
  if (engine == Engine::kZ3)
    return smt::prove(question, budget.timeout_seconds, budget.solver_mib, budget.spent_seconds);
  const auto start = Clock::now();
  auto diagrams = dd::prove(question, budget.diagrams);
  if (!diagrams) return diagrams;
  auto solver = smt::prove(question, budget.timeout_seconds, budget.solver_mib,
                           budget.spent_seconds + seconds_since(start));
  if (!solver) return solver;
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
