#include "verify/decide/classes.h"

#include <utility>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/dd/engine.h"
#include "verify/smt/classes.h"

namespace secequiv {
namespace {

bool holds_for_classes(const Result<Proof>& single) {
  return single && (single->verdict == Verdict::kEquivalent || single->verdict == Verdict::kPass);
}

// Continues after the diagrams gave up on classes.
Result<Proof> without_diagrams(const Question& question, const Budget& budget, Proof given_up) {
  const auto start = Clock::now();
  Question single = question;
  single.sameness = Sameness::kBehaviour;
  auto answer = decide(single, Engine::kDd, budget);
  if (!answer || holds_for_classes(answer)) {
    // A pass says that some single input is treated more strictly; its class may not be.
    if (answer && answer->verdict == Verdict::kPass) answer->relation.reset();
    return answer;
  }
  if (stop_wanted()) return given_up;
  auto quantified = smt::prove_classes(question, budget.timeout_seconds, budget.solver_mib,
                                       budget.spent_seconds + seconds_since(start));
  if (quantified && quantified->verdict == Verdict::kUnknown)
    quantified->detail += "; dd: " + given_up.detail;
  return quantified;
}

}  // namespace

Result<Proof> decide_classes(const Question& question, const Engine& engine, const Budget& budget) {
  if (!question.symbols.empty())
    return make_error(ErrorCode::kUsage, "",
                      "comparing effects needs numbers in place of names in the programs");
  const auto by_z3 = [&](double spent) {
    return smt::prove_classes(question, budget.timeout_seconds, budget.solver_mib,
                              budget.spent_seconds + spent);
  };
  switch (engine.kind) {
    case Engine::kZ3:
      return by_z3(0);
    case Engine::kDd: {
      auto first = dd::prove(question, budget.diagrams);
      if (!first || first->verdict != Verdict::kUnknown || stop_wanted()) return first;
      return without_diagrams(question, budget.after(first->encode_seconds), std::move(*first));
    }
    case Engine::kBoth: {
      const auto start = Clock::now();
      auto diagrams = dd::prove(question, budget.diagrams);
      if (!diagrams) return diagrams;
      return agreed(std::move(*diagrams), by_z3(seconds_since(start)));
    }
    case Engine::kSat:
    case Engine::kForeign:
    case Engine::kAll:
      break;
  }
  return make_error(ErrorCode::kUsage, "",
                    "expected the engine dd, z3 or both, because only these compare effects");
}

}  // namespace secequiv
