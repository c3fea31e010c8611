#include "verify/decide/side_by_side.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/interrupt.h"
#include "verify/decide/answers.h"
#include "verify/sat/solver.h"
#include "verify/smt/solver.h"

namespace secequiv {
namespace {

using Ask = std::function<Result<Proof>()>;

// Returns a function for each engine.
std::vector<Ask> all_engines(const Question& question, const Engine& engine, const Budget& budget) {
  const double spent = budget.spent_seconds;
  std::vector<Ask> out{
      [&, spent] {
        dd::Limits limits = limits_alone(budget.solver_mib);
        limits.seconds = std::max(budget.timeout_seconds - spent, 0.0);
        return dd::prove(question, limits);
      },
      [&, spent] { return sat::prove(question, budget.timeout_seconds, budget.solver_mib, spent); },
      [&, spent] {
        return z3_if_installed(question, budget.timeout_seconds, budget.solver_mib, spent);
      }};
  for (const smt::ForeignSolver& solver : engine.solvers)
    out.emplace_back([&, spent] {
      return smt::prove_by(solver, question, budget.timeout_seconds, budget.solver_mib, spent);
    });
  return out;
}

}  // namespace

Result<Proof> side_by_side(const Question& question, const Engine& engine, const Budget& budget) {
  StopToken token;
  std::atomic<std::size_t> first = ~std::size_t{0};
  const std::vector<Ask> engines = all_engines(question, engine, budget);
  const auto run = [&](std::size_t i) {
    const Heed heed(&token);
    struct StopOthers {  // its destructor also runs if memory runs out
      StopToken* token;
      ~StopOthers() {
        if (token != nullptr) token->stop();
      }
    } at_end{&token};
    auto answer = engines[i]();
    std::size_t none = ~std::size_t{0};
    if (decisive(answer))
      first.compare_exchange_strong(none, i);
    else
      at_end.token = nullptr;
    return answer;
  };
  std::vector<std::future<Result<Proof>>> running;
  running.reserve(engines.size());
  for (std::size_t i = 0; i < engines.size(); ++i)
    running.push_back(std::async(std::launch::async, run, i));
  std::vector<Result<Proof>> answers;
  answers.reserve(engines.size());
  for (auto& each : running) answers.push_back(each.get());
  if (first == ~std::size_t{0}) {
    std::vector<std::string> reasons;
    reasons.reserve(answers.size());
    for (const auto& answer : answers)
      reasons.push_back(fmt::format("{}: {}", answer->engine, answer->detail));
    return no_verdict("all", fmt::format("{}", fmt::join(reasons, "; ")));
  }
  auto& out = answers[first];
  if (!out) return out;
  for (const auto& other : answers) {
    if (!other) return other;
    if (other->verdict == Verdict::kUnknown) continue;
    if (auto error = contradiction(*out, *other)) return *error;
  }
  return out;
}

}  // namespace secequiv
