#include "analyze/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/proven.h"
#include "analyze/rule_forms.h"
#include "fuzz/hunt/assess.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/optimize.h"
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

// Returns the shortest of the results that are possible for a program.
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
  if (job.wanted == Wanted::kProgram)
    for (const Policy& form : forms_for_search(lifted->policy))
      if (OptimizeResult other = from_policy(job, form); other.program.size() < out.program.size())
        out = std::move(other);
  if (alone && alone->program.size() <= out.program.size()) return std::move(*alone);
  if (alone) out.bytecode_alone = alone->bytecode_alone;
  out.lifted = std::move(*lifted);
  return out;
}

// Checks the result's program, or its rules. Errors: kInternal if it decides in another way;
// kBudget if the limits are reached, unless the user chose what runs on a program.
Status check(const OptimizeJob& job, OptimizeResult& result) {
  const auto before = views(job.stack.filters);
  if (job.wanted == Wanted::kRules) {
    const auto rules = read_policy(result.text, job.stack.name);
    if (!rules) return make_error(ErrorCode::kInternal, "optimize", rules.error().text());
    return expect_same(before, compile(*rules), job.stack.name, "optimize", job.limits);
  }
  const auto proven = expect_same(before, result.program, job.stack.name, "optimize", job.limits);
  const bool tolerated = !job.lift && !is_policy(job.stack.filters);
  if (!proven && (proven.error().code != ErrorCode::kBudget || !tolerated)) return proven.error();
  if (!proven) result.unproven = proven.error().detail;
  result.lost_calls = hunt::lost_calls(before, result.program);
  return Ok{};
}

}  // namespace

std::string changes_text(const OptimizeJob& job, const OptimizeResult& result) {
  std::string out;
  if (result.lifted) out = fmt::format("lifted: {}\n", summary(*result.lifted));
  if (!result.not_lifted.empty()) out = fmt::format("not lifted: {}\n", result.not_lifted);
  out += steps_text(result.steps);
  if (job.wanted != Wanted::kProgram) return out;
  out += fmt::format("{} -> {} instructions", instructions(job.stack), result.program.size());
  const bool both = result.lifted && result.bytecode_alone;
  return out + (both ? fmt::format("; {} without lifting\n", *result.bytecode_alone) : "\n");
}

Result<OptimizeResult> optimize(const OptimizeJob& job) {
  const bool ordered = std::ranges::any_of(job.passes, [](const Pass* pass) {
    return pass->name == "hot-first" || pass->name == "search-trees";
  });
  if (!job.profile.empty() && (!ordered || job.wanted == Wanted::kRules))
    return usage_error(
        Subject::kProfile,
        "only the passes hot-first and search-trees use a profile, and neither runs here");
  auto out = is_policy(job.stack.filters)
                 ? Result<OptimizeResult>(from_policy(job, *job.stack.filters.front().policy))
                 : from_programs(job);
  if (out && job.wanted != Wanted::kPlan) RETURN_IF_ERROR(check(job, *out));
  return out;
}

}  // namespace secequiv
