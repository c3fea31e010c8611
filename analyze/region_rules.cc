#include "analyze/region_rules.h"

#include <algorithm>

#include "verify/dd/regions.h"
#include "verify/symbolic/policy_symbolic.h"

namespace secequiv {
namespace {

// Returns whether reports name both alternatives in the same way. Without a position, the name also
// contains the branch inside an alternative, and different inputs can take different branches.
bool same_name(const Alternative& a, const Alternative& b) {
  if (a.position->at != nullptr && b.position->at != nullptr)
    return a.position->at->text() == b.position->at->text();
  return a.rule == b.rule && a.position->at == b.position->at && !is_branching(*a.rule);
}

// Returns a policy for the system calls of `region`. Its action is 1 where the same rule decides as
// for `data`, and 0 elsewhere.
Policy same_rule(const Policy& policy, const Region& region, const SeccompData& data) {
  const Origin from = origin(policy, data);
  Policy out;
  out.arches = policy.arches;
  out.variables = policy.variables;
  out.default_action = from.kind == Origin::Kind::kDefault && from.range == nullptr ? 1 : 0;
  out.default_ranges = policy.default_ranges;
  for (std::size_t i = 0; i < out.default_ranges.size(); ++i)
    out.default_ranges[i].action = from.range == &policy.default_ranges[i] ? 1 : 0;
  out.bad_arch_action = from.kind == Origin::Kind::kBadArch ? 1 : 0;
  if (policy.x32_action) out.x32_action = from.kind == Origin::Kind::kX32 ? 1 : 0;
  Alternative decides{nullptr, nullptr};
  if (from.kind == Origin::Kind::kRule) decides = matching_alternative(*from.rule, data);
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules) {
      if (!region.allows(kArchWord, arch_info(entry.arch).audit) ||
          !region.allows(kNrWord, entry.nr))
        continue;
      for (const Alternative& one : alternatives(entry.rule)) {
        const bool same = decides.rule != nullptr && same_name(one, decides);
        out.rule_sets.push_back(
            {same ? 1u : 0u, set.vsyscall, {{entry.arch, entry.nr, *one.rule}}});
      }
    }
  return out;
}

}  // namespace

RegionRule RegionRules::of(const Region& region) {
  const SeccompData example = region.example();
  RegionRule out{deciding_rule(policy_, example), false};
  dd::Words& words = space_.words();
  const Policy same = same_rule(policy_, region, example);
  const auto value = [&](const std::string& name) {
    const auto found =
        std::ranges::find(same.variables, name, &std::pair<std::string, std::uint32_t>::first);
    return words.constant(found == same.variables.end() ? 0 : found->second);
  };
  const dd::Word decided = decide_symbolic(words, same, value);
  const dd::NodeId others = space_.diagrams().both(dd::Regions(space_).set_of(region),
                                                   words.set(words.eq(decided, words.constant(0))));
  out.always = others == dd::Diagrams::kZero && !space_.exhausted();
  return out;
}

}  // namespace secequiv
