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
// one of its filters.
Status check_refines(const MergeJob& job) {
  const auto programs = views(job.filters);
  dd::Space space(programs, job.limits);
  const auto each = space.each(programs);
  const dd::Decisions stack = space.stack(each);
  for (std::size_t i = 0; i < each.size(); ++i) {
    const std::string& name = job.filters[i].name;
    const dd::NodeId looser = space.more_permissive(stack, each[i]);
    if (space.exhausted()) return dd::limits_reached(name);
    if (looser == dd::Diagrams::kZero) continue;
    Question question;
    question.before = {programs[i]};
    question.after = programs;
    question.goal = Question::Goal::kRefines;
    const auto data = space.smallest(looser);
    if (!data) return dd::limits_reached(name);
    const auto witness = replay(question, *data);
    if (!witness)
      return make_error(
          ErrorCode::kInternal, "merge",
          fmt::format("the stack is not more permissive for the input {} when run; please report "
                      "this",
                      describe(*data)));
    return make_error(
        ErrorCode::kPolicy, name,
        fmt::format("the intersection would be more permissive than this filter: for {}, the "
                    "filter returns {}, but a stack of these filters returns {}",
                    describe(witness->data), describe_action(witness->before),
                    describe_action(witness->after)));
  }
  return Ok{};
}

}  // namespace

Result<Lifted> merge(const MergeJob& job) {
  LiftJob lifting{{"", job.filters}, job.host, job.limits, job.combination, {}};
  std::vector<std::string> names;
  names.reserve(job.filters.size());
  for (const Source& filter : job.filters) names.push_back(filter.name);
  lifting.stack.name = fmt::format("{}", fmt::join(names, ", "));
  lifting.label = [&](Policy& policy) { label(job, policy); };
  if (job.combination == Combination::kStack) RETURN_IF_ERROR(check_refines(job));
  return lift(lifting);
}

}  // namespace secequiv
