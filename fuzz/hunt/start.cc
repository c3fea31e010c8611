#include "fuzz/hunt/start.h"

#include <array>

#include "harness/generate/policy.h"
#include "harness/seccomp/action.h"

namespace secequiv::hunt {
namespace {

// Returns the smallest program, which allows everything.
const Program& small_program() {
  static const Program kProgram = {Insn{kRetK, 0, 0, SECCOMP_RET_ALLOW}};
  return kProgram;
}

template <class T>
std::string why_not(const Answer<T>& answer) {
  return answer.outcome == Outcome::kCannotRun ? answer.detail : "";
}

}  // namespace

std::string why_not_started(const Target& target) {
  if (target.optimizer != nullptr) return why_not(target.optimizer->optimize(small_program()));
  Random random(1);
  return why_not(target.compiler->compile(generate_policy(random, PolicyShape::kCommon)));
}

std::string why_not_started(Evaluator& evaluator) {
  return why_not(evaluator.evaluate(small_program(), std::array<SeccompData, 1>{}));
}

}  // namespace secequiv::hunt
