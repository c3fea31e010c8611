#include "harness/report/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "harness/base/text.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

// Collects the first branch of each any_of that matches, from the outside in: "branch 3 of 4",
// "branch 1 of 2".
void matching_branches(const Rule& rule, const SeccompData& data, Endian endian,
                       std::vector<std::string>& out) {
  if (rule.kind == Rule::Kind::kAllOf) {
    for (const Rule& child : rule.children) matching_branches(child, data, endian, out);
  } else if (rule.kind == Rule::Kind::kAnyOf) {
    for (std::size_t i = 0; i < rule.children.size(); ++i) {
      if (!rule.children[i].matches(data, endian)) continue;
      out.push_back(fmt::format("branch {} of {}", i + 1, rule.children.size()));
      matching_branches(rule.children[i], data, endian, out);
      return;
    }
  }
}

// Returns the positions of the other rules with which the policy takes this action for the call of
// `data`, each once.
std::vector<PositionRef> other_rules(const Policy& policy, const Origin& from,
                                     const PositionRef& decides, const SeccompData& data) {
  std::vector<PositionRef> out;
  std::set<std::string> seen;
  const auto add = [&](const PositionRef& position) {
    if (position.at == nullptr) return;
    if (seen.insert(position.at->text()).second) out.push_back(position);
    for (const RulePosition& one : position.at->superfluous)
      if (seen.insert(one.text()).second)
        out.push_back({std::make_shared<const RulePosition>(one)});
  };
  if (decides.at != nullptr) seen.insert(decides.at->text());
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules) {
      if (set.action != from.action || entry.arch != from.arch || entry.nr != data.nr()) continue;
      for (const Alternative& one : alternatives(entry.rule)) add(*one.position);
    }
  return out;
}

}  // namespace

DecidingRule deciding_rule(const Policy& policy, const SeccompData& data) {
  const Origin from = origin(policy, data);
  switch (from.kind) {
    case Origin::Kind::kBadArch:
      return {"bad-arch action: the policy does not name this architecture",
              policy.bad_arch_position};
    case Origin::Kind::kX32:
      return {"x32 action: the number has the x32 bit", policy.x32_position};
    case Origin::Kind::kDefault:
      if (from.range == nullptr)
        return {"default action: no rule matches", policy.default_position, true};
      return {fmt::format("default action of the numbers {:#x} to {:#x} on {}: no rule matches",
                          from.range->first, from.range->last, arch_info(from.range->arch).name),
              from.range->position, true};
    case Origin::Kind::kRule:
      break;
  }
  std::vector<std::string> branches;
  const Endian endian = endian_of(data.arch());
  matching_branches(*from.rule, data, endian, branches);
  const std::string name(syscall_name(from.arch, data.nr()));
  std::string text = fmt::format(
      "rule set {} of {} ({}), {} on {}{}{}", from.rule_set + 1, policy.rule_sets.size(),
      describe_action(from.action), name.empty() ? fmt::format("{}", data.nr()) : name,
      arch_info(from.arch).name, branches.empty() ? "" : ", ", fmt::join(branches, ", "));
  const PositionRef position = *matching_alternative(*from.rule, data).position;
  return {std::move(text), position, false, other_rules(policy, from, position, data)};
}

std::string reason(const Policy& policy, const SeccompData& data) {
  const Origin from = origin(policy, data);
  const auto arch = arch_from_data(data.arch(), data.nr());
  if (from.kind == Origin::Kind::kBadArch)
    return fmt::format("the policy does not name {}",
                       arch ? std::string(arch_info(*arch).name)
                            : fmt::format("the architecture {:#x}", data.arch()));
  if (from.kind == Origin::Kind::kX32) return "the number has the x32 bit";
  if (from.kind == Origin::Kind::kRule) return deciding_rule(policy, data).shown();
  bool has_rule = false;
  std::string name;
  for (const Arch each : policy.arches) {
    if (arch_info(each).audit != data.arch()) continue;
    if (name.empty()) name = syscall_name(each, data.nr());
    for (const RuleSet& set : policy.rule_sets)
      has_rule = has_rule || set.find(each, data.nr()) != nullptr;
  }
  if (name.empty()) name = fmt::format("number {}", data.nr());
  return fmt::format("no rule for {}{}", name, has_rule ? " matches" : "");
}

std::optional<RulePosition> known(const PositionRef& position) {
  if (position.at == nullptr) return std::nullopt;
  return *position.at;
}

void describe(Fields<RulePosition>& position) {
  position.is("origin", "A rule in the file that the user wrote.");
  position("file", "The file, as it was named.", &RulePosition::file);
  position("line", "The line, from 1.", &RulePosition::line, at_least(1));
  position("path", "The entry within a JSON file: syscalls[14].",
           [](const RulePosition& it) { return unless_empty(it.path); });
  position("condition",
           "The condition that selected an entry of a container profile, for example 'includes "
           "CAP_SYS_ADMIN'.",
           [](const RulePosition& it) { return unless_empty(it.condition); });
}

void describe(Fields<LoadFailure>& failure) {
  failure(
      "runtimes", "The runtimes that refuse the profile.",
      [](const LoadFailure& it) {
        std::vector<std::string_view> out;
        for (std::size_t i = 0; i < kRuntimeNames.size(); ++i)
          if (it.runtimes[i]) out.push_back(kRuntimeNames[i]);
        return out;
      },
      set_of(words(kRuntimeNames), 1));
  failure("reason", "What they refuse.", &LoadFailure::reason);
  failure("origin", "Where the profile has it.", &LoadFailure::position);
  failure("text", "The same in words.", &LoadFailure::text);
}

std::string positions_text(const std::vector<PositionRef>& positions) {
  constexpr std::size_t kShown = 8;
  return first_and_count(positions, kShown, [](const PositionRef& one) { return one.at->text(); });
}

}  // namespace secequiv
