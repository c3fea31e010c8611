#include "verify/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/dd/prover.h"
#include "verify/decide/answers.h"
#include "verify/decide/classes.h"
#include "verify/decide/shown.h"
#include "verify/decide/side_by_side.h"
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

// Returns whether the answer is final. The limit of all work may have been reached after this
// engine reached its share, and then the answer names both.
bool no_next_engine(Result<Proof>& out) {
  if (decisive(out)) return true;
  if (!stop_wanted()) return false;
  if (const std::string why = stop_reason(); out->detail.find(why) == std::string::npos)
    out->detail = why + "; " + out->detail;
  return true;
}

// Diagrams get this many steps before inputs run; most real pairs need fewer.
constexpr std::size_t kFirstSteps = std::size_t{1} << 16;
constexpr std::size_t kImprovingSteps = std::size_t{1} << 17;
// For engines whose work is not counted in steps.
constexpr double kImprovingSeconds = 10;

using Solver = Result<Proof> (*)(const Question&, double, std::size_t, double);

// Runs the diagram engine for a few steps, then the product walk, for which arithmetic is simple if
// both programs compute the same terms.
Result<Proof> cheap_first(const Question& question, dd::Limits limits) {
  const auto start = Clock::now();
  limits.steps = std::min(limits.steps, kFirstSteps);
  auto out = dd::prove(question, limits);
  if (no_next_engine(out)) return out;
  if (auto proof = dd::Prover().without_diagrams(question)) {
    proof->solve_seconds = seconds_since(start);
    return *std::move(proof);
  }
  return out;
}

// Continues after cheap_first() returned the undecided answer `first`: runs the SAT engine with
// a small effort, because arithmetic that exceeds the limits of diagrams is often simple for it.
// Then runs the diagram engine, the SAT engine with half of the remaining time, and Z3.
Result<Proof> one_after_the_other(const Question& question, const Budget& budget,
                                  Result<Proof> first) {
  const auto start = Clock::now();
  const auto spent = [&] { return budget.spent_seconds + seconds_since(start); };
  auto out = sat::prove_quickly(question, budget.timeout_seconds, budget.solver_mib, spent());
  if (no_next_engine(out)) return out;
  out = budget.diagrams.steps > kFirstSteps
            ? dd::prove(question, budget.after(seconds_since(start)).diagrams)
            : std::move(first);
  for (const auto& [solver, share] :
       {std::pair<Solver, double>{sat::prove, 0.5}, {z3_if_installed, 1}}) {
    if (no_next_engine(out)) return out;
    const double now = spent();
    // For the last solver, std::lerp returns exactly the user's limit, which its message names.
    auto next =
        solver(question, std::lerp(now, budget.timeout_seconds, share), budget.solver_mib, now);
    if (!next) return next;
    next->encode_seconds += out->encode_seconds;
    next->solve_seconds += out->solve_seconds;
    if (next->verdict == Verdict::kUnknown)
      next->detail += fmt::format("; {}: {}", out->engine, out->detail);
    out = std::move(next);
  }
  return out;
}

Result<Proof> both_must_agree(const Question& question, const Budget& budget) {
  const auto start = Clock::now();
  auto diagrams = dd::prove(question, budget.diagrams);
  if (!diagrams) return diagrams;
  return agreed(std::move(*diagrams),
                smt::prove(question, budget.timeout_seconds, budget.solver_mib,
                           budget.spent_seconds + seconds_since(start)));
}

// Lets the engine look for the smallest witness of a difference that an input shows.
Result<Proof> improved(const Question& question, const Engine& engine, Budget budget,
                       const Witness& witness) {
  budget.diagrams = limits_to_improve(budget.diagrams);
  budget.timeout_seconds =
      std::min(budget.timeout_seconds, budget.spent_seconds + kImprovingSeconds);
  const bool diagrams = engine == Engine::kDd || engine == Engine::kAll;
  auto out = diagrams ? dd::prove(question, budget.diagrams) : ask_engine(question, engine, budget);
  if (!out || out->verdict == Verdict::kDifferent) return out;
  auto shown = sat::minimized(question, witness, budget.timeout_seconds, budget.solver_mib,
                              budget.spent_seconds);
  if (!shown) return shown;
  shown->engine = "inputs";
  if (out->verdict == Verdict::kUnknown) return shown;
  return *contradiction(*out, *shown);
}

}  // namespace

Result<Proof> agreed(Proof diagrams, Result<Proof> solver) {
  if (!solver) return solver;
  if (diagrams.verdict == Verdict::kUnknown || solver->verdict == Verdict::kUnknown) {
    Proof& undecided = diagrams.verdict == Verdict::kUnknown ? diagrams : *solver;
    const Proof& other = diagrams.verdict == Verdict::kUnknown ? *solver : diagrams;
    if (other.verdict == Verdict::kDifferent) return other;
    undecided.detail += fmt::format("; {} alone answers '{}', but both engines have to decide",
                                    other.engine, verdict_name(other.verdict));
    return undecided;
  }
  if (auto error = contradiction(diagrams, *solver)) return *error;
  solver->engine = "dd and z3";
  solver->encode_seconds += diagrams.encode_seconds;
  solver->solve_seconds += diagrams.solve_seconds;
  return solver;
}

Result<Proof> ask_engine(const Question& question, const Engine& engine, const Budget& budget) {
  if (question.sameness == Sameness::kEffect) return decide_classes(question, engine, budget);
  const auto [seconds, mib, diagrams, spent] = budget;
  switch (engine.kind) {
    case Engine::kZ3:
      return smt::prove(question, seconds, mib, spent);
    case Engine::kDd: {
      auto first = cheap_first(question, budget.diagrams);
      if (no_next_engine(first)) return first;
      return one_after_the_other(question, budget, std::move(first));
    }
    case Engine::kBoth:
      return both_must_agree(question, budget);
    case Engine::kSat:
      return sat::prove(question, seconds, mib, spent);
    case Engine::kForeign:
      return smt::prove_by(engine.solvers.front(), question, seconds, mib, spent);
    case Engine::kAll:
      break;
  }
  return side_by_side(question, engine, budget);
}

dd::Limits limits_to_improve(const dd::Limits& limits) {
  dd::Limits out = limits;
  out.steps = std::min(out.steps, kImprovingSteps);
  return out;
}

Result<Proof> decide(const Question& question, const Engine& engine, const Budget& budget) {
  const auto start = Clock::now();
  const auto left = [&] { return budget.after(seconds_since(start)); };
  // Counts everything that ran before the engine that decided as solving.
  const auto with_time = [&](Result<Proof> out) {
    if (out) out->solve_seconds = seconds_since(start) - out->encode_seconds;
    return out;
  };
  // A single input that shows a difference does not show one of its class.
  if (question.sameness == Sameness::kEffect)
    return with_time(decide_classes(question, engine, budget));
  std::optional<Result<Proof>> first;
  if (engine == Engine::kDd || engine == Engine::kAll) {
    first = cheap_first(question, budget.diagrams);
    if (no_next_engine(*first)) return std::move(*first);
  }
  if (const auto shown = shown_by_inputs(question))
    return with_time(improved(question, engine, left(), *shown));
  if (engine == Engine::kDd)
    return with_time(one_after_the_other(question, left(), std::move(*first)));
  return with_time(ask_engine(question, engine, left()));
}

}  // namespace secequiv
