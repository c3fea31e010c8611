#include "harness/report/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

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

// Returns the innermost position on the path to the part that matches.
const PositionRef* matching_position(const Rule& rule, const SeccompData& data, Endian endian) {
  if (rule.kind == Rule::Kind::kAnyOf)
    for (const Rule& child : rule.children)
      if (child.matches(data, endian)) {
        const PositionRef* inner = matching_position(child, data, endian);
        if (inner->at != nullptr) return inner;
        break;
      }
  return &rule.position;
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
      return {"default action: no rule matches", policy.default_position, true};
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
  return {std::move(text), *matching_position(*from.rule, data, endian)};
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

nlohmann::ordered_json to_json(const RulePosition& position) {
  nlohmann::ordered_json out{{"file", position.file}, {"line", position.line}};
  if (!position.path.empty()) out["path"] = position.path;
  if (!position.condition.empty()) out["condition"] = position.condition;
  return out;
}

}  // namespace secequiv
