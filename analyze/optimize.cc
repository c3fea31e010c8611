#include "analyze/optimize.h"

#include <algorithm>
#include <utility>

#include "harness/policy/json.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

Result<OptimizeResult> optimize(const OptimizeJob& job) {
  const bool ordered = std::ranges::find(job.passes, "hot-first", &Pass::name) != job.passes.end();
  if (!job.profile.empty() && (!ordered || job.wanted == OptimizeJob::Wanted::kRules))
    return usage_error(Subject::kProfile,
                       "only the pass hot-first uses a profile, and it does not run here");
  OptimizeResult out;
  if (!job.source.policy) {
    Optimized made = optimize(job.source.program, job.passes);
    return OptimizeResult{std::move(made.program), {}, std::move(made.steps), made.fixpoint, {}};
  }
  const Policy& policy = *job.source.policy;
  out.unknown = unknown_calls(job.profile, policy.arches);
  if (job.wanted == OptimizeJob::Wanted::kProgram) {
    Optimized made = optimize(policy, job.passes, job.profile);
    out.program = std::move(made.program);
    out.steps = std::move(made.steps);
    out.fixpoint = made.fixpoint;
    return out;
  }
  Simplified rules = simplify(policy, job.passes);
  out.text = job.wanted == OptimizeJob::Wanted::kRules
                 ? write_policy(rules.policy)
                 : plan_text(lay_out(rules.policy, job.passes, job.profile, &rules.steps));
  out.steps = std::move(rules.steps);
  return out;
}

}  // namespace secequiv
