#include "analyze/optimize.h"

#include <algorithm>
#include <utility>

#include "analyze/proven.h"
#include "fuzz/hunt/assess.h"
#include "harness/policy/json.h"
#include "harness/seccomp/profile.h"

namespace secequiv {
namespace {

using Wanted = OptimizeJob::Wanted;

OptimizeResult from_program(Optimized made) {
  OptimizeResult out;
  out.program = std::move(made.program);
  out.steps = std::move(made.steps);
  out.fixpoint = made.fixpoint;
  return out;
}

OptimizeResult from_policy(const OptimizeJob& job, const Policy& policy) {
  OptimizeResult out;
  if (job.wanted == Wanted::kProgram) {
    out = from_program(optimize(policy, job.passes, job.profile));
  } else {
    Simplified rules = simplify(policy, job.passes);
    out.text = job.wanted == Wanted::kRules
                   ? write_policy(rules.policy)
                   : plan_text(lay_out(rules.policy, job.passes, job.profile, &rules.steps));
    out.steps = std::move(rules.steps);
  }
  out.unknown = unknown_calls(job.profile, policy.arches);
  return out;
}

// Returns the shorter of the two results that are possible for a program.
Result<OptimizeResult> from_programs(const OptimizeJob& job) {
  std::optional<OptimizeResult> alone;
  if (job.stack.filters.size() == 1 && job.wanted == Wanted::kProgram && job.profile.empty()) {
    alone = from_program(optimize(job.stack.filters.front().program, job.passes));
    if (!job.lift) return std::move(*alone);
    alone->bytecode_alone = alone->program.size();
  }
  auto lifted = lift({job.stack, job.host, job.limits});
  if (!lifted) {
    if (!alone || lifted.error().code == ErrorCode::kInternal) return lifted.error();
    alone->not_lifted = lifted.error().detail;
    return std::move(*alone);
  }
  OptimizeResult out = from_policy(job, lifted->policy);
  if (alone && alone->program.size() <= out.program.size()) return std::move(*alone);
  if (alone) out.bytecode_alone = alone->bytecode_alone;
  out.lifted = std::move(*lifted);
  return out;
}

// Checks the result's program. Errors: kInternal if it decides in another way.
Status check(const OptimizeJob& job, OptimizeResult& result) {
  const auto before = views(job.stack.filters);
  const auto proven = expect_same(before, result.program, job.stack.name, "optimize", job.limits);
  if (!proven && proven.error().code != ErrorCode::kBudget) return proven.error();
  if (!proven) result.unproven = proven.error().detail;
  result.lost_calls = hunt::lost_calls(before, result.program);
  return Ok{};
}

}  // namespace

Result<OptimizeResult> optimize(const OptimizeJob& job) {
  const bool ordered = std::ranges::find(job.passes, "hot-first", &Pass::name) != job.passes.end();
  if (!job.profile.empty() && (!ordered || job.wanted == Wanted::kRules))
    return usage_error(Subject::kProfile,
                       "only the pass hot-first uses a profile, and it does not run here");
  auto out = is_policy(job.stack.filters)
                 ? Result<OptimizeResult>(from_policy(job, *job.stack.filters.front().policy))
                 : from_programs(job);
  if (out && job.wanted == Wanted::kProgram)
    if (auto s = check(job, *out); !s) return s.error();
  return out;
}

}  // namespace secequiv
