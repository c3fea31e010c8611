#include "analyze/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "harness/base/text.h"
#include "harness/seccomp/call_text.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

bool has_call(const Policy& policy, std::string_view text) {
  const auto call = split_arch(text);
  return std::ranges::any_of(policy.arches, [&](Arch arch) {
    return arch == call.first.value_or(arch) && syscall_nr(arch, call.second).has_value();
  });
}

void label(const MergeJob& job, Policy& policy) {
  std::vector<std::string> names;
  for (const Source& filter : job.filters) {
    const bool named = filter.policy && !filter.policy->name.empty();
    names.push_back(named ? filter.policy->name : filter.name);
    if (!filter.policy) continue;
    for (const std::string& call : filter.policy->hot)
      if (std::ranges::find(policy.hot, call) == policy.hot.end() && has_call(policy, call))
        policy.hot.push_back(call);
  }
  const bool all = job.combination == Combination::kStack;
  policy.name = fmt::format("{}", fmt::join(names, all ? " and " : " or "));
  policy.description = all ? "The intersection: the strictest action of these filters."
                           : "The union: the most permissive action of these filters.";
}

// Proves that the stack, to which the merged policy is equivalent, is never more permissive than
// `filter`.
Status check_refines(const MergeJob& job, const Source& filter) {
  Question question;
  question.before = {filter.program};
  question.after = views(job.filters);
  question.goal = Question::Goal::kRefines;
  const auto proof = dd::prove(question, job.limits);
  if (!proof) return proof.error();
  if (proof->verdict == Verdict::kUnknown) return dd::limits_reached(filter.name);
  if (!proof->witness) return Ok{};
  return make_error(
      ErrorCode::kPolicy, filter.name,
      fmt::format("the intersection would be more permissive than this filter: for {}, the filter "
                  "returns {}, but a stack of these filters returns {}",
                  describe(proof->witness->data), describe_action(proof->witness->before),
                  describe_action(proof->witness->after)));
}

}  // namespace

Result<Lifted> merge(const MergeJob& job) {
  LiftJob lifting{{"", job.filters}, job.host, job.limits, job.combination, {}};
  std::vector<std::string> names;
  names.reserve(job.filters.size());
  for (const Source& filter : job.filters) names.push_back(filter.name);
  lifting.stack.name = fmt::format("{}", fmt::join(names, ", "));
  lifting.label = [&](Policy& policy) { label(job, policy); };
  if (job.combination == Combination::kStack)
    for (const Source& filter : job.filters)
      if (auto s = check_refines(job, filter); !s) return s.error();
  return lift(lifting);
}

}  // namespace secequiv
