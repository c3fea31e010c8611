#include "verify/decide/feasibility.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/dd/reach.h"
#include "verify/smt/solver.h"

namespace secequiv {

struct FeasibilityDecider::State {
  const Program& program;
  Engine engine;
  dd::Limits limits;
  // `space` and `reach` are created together when first needed, and so is `solver`.
  std::unique_ptr<dd::Space> space;
  std::unique_ptr<dd::Reach> reach;
  std::unique_ptr<smt::FeasibilityDecider> solver;

  Result<Feasibility> ask_diagrams(const Obligation& obligation) {
    Feasibility out{obligation, Feasibility::Answer::kUnknown, std::nullopt, {}};
    if (!space) {
      const ProgramView views[] = {program};
      space = std::make_unique<dd::Space>(views, limits);
      reach = std::make_unique<dd::Reach>(*space, program);
    }
    const dd::NodeId set = space->exhausted() ? dd::Diagrams::kZero : reach->set(obligation);
    const auto undecided = [&] {
      out.detail = dd::exhausted_text();
      return out;
    };
    if (space->exhausted()) return undecided();
    if (set == dd::Diagrams::kZero) {
      out.answer = Feasibility::Answer::kInfeasible;
      return out;
    }
    out.witness = space->smallest(set);
    if (!out.witness) return undecided();
    CoverageMap coverage(program);
    coverage.run(*out.witness);
    if (!coverage.covered(obligation))
      return make_error(ErrorCode::kInternal, "dd",
                        fmt::format("the input {} does not reach {} when run; please report this",
                                    describe(*out.witness), describe(obligation, program)));
    out.answer = Feasibility::Answer::kFeasible;
    return out;
  }

  Result<Feasibility> ask_solver(const Obligation& obligation, double timeout_seconds) {
    if (!solver) solver = std::make_unique<smt::FeasibilityDecider>(program);
    return solver->query(obligation, timeout_seconds);
  }
};

FeasibilityDecider::FeasibilityDecider(const Program& program, const Engine& engine,
                                       const Budget& budget)
    : state_(new State{program, engine, budget.diagrams, nullptr, nullptr, nullptr}) {}
FeasibilityDecider::~FeasibilityDecider() = default;

Result<Feasibility> FeasibilityDecider::query(const Obligation& obligation,
                                              double timeout_seconds) {
  using Answer = Feasibility::Answer;
  if (state_->engine == Engine::kZ3) return state_->ask_solver(obligation, timeout_seconds);
  const auto start = Clock::now();
  auto mine = state_->ask_diagrams(obligation);
  if (!mine) return mine;
  if (state_->engine != Engine::kBoth && mine->answer != Answer::kUnknown) return mine;
  constexpr double kLeast = 1e-3;
  auto theirs =
      state_->ask_solver(obligation, std::max(timeout_seconds - seconds_since(start), kLeast));
  if (!theirs || state_->engine != Engine::kBoth) return theirs;
  if (mine->answer != theirs->answer && mine->answer != Answer::kUnknown &&
      theirs->answer != Answer::kUnknown)
    return make_error(
        ErrorCode::kInternal, "engines",
        fmt::format(
            "diagrams and z3 disagree about whether an input reaches {}; please report this",
            describe(obligation, state_->program)));
  // A witness was run, so it needs no confirmation. Infeasibility needs both engines.
  if (mine->answer == Answer::kFeasible) return mine;
  return mine->answer == Answer::kUnknown && theirs->answer != Answer::kFeasible ? mine : theirs;
}

Status account_for_edges(const CoverageMap& coverage, const Engine& engine, const Budget& budget,
                         const std::function<bool(const Feasibility&)>& take,
                         std::span<const Obligation> infeasible) {
  using Answer = Feasibility::Answer;
  const auto start = Clock::now();
  const auto uncovered = coverage.uncovered();
  if (uncovered.empty()) return Ok{};
  FeasibilityDecider decider(coverage.program(), engine, budget);
  for (const Obligation& obligation : uncovered) {
    if (coverage.covered(obligation)) continue;
    const bool known = std::ranges::find(infeasible, obligation) != infeasible.end();
    const double left = budget.timeout_seconds - budget.spent_seconds - seconds_since(start);
    auto answer =
        known ? Result<Feasibility>(Feasibility{obligation, Answer::kInfeasible, {}, {}})
        : left > 0 && !stop_wanted()
            ? decider.query(obligation, left)
            : Result<Feasibility>(Feasibility{obligation,
                                              Answer::kUnknown,
                                              {},
                                              stop_wanted() ? stop_reason() : "no time left"});
    if (!answer) return answer.error();
    if (!take(*answer)) break;
  }
  return Ok{};
}

}  // namespace secequiv
