#include "harness/report/rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

// Branches of any_of that match first, from the outside in: "branch 3, branch 1".
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

}  // namespace

std::string deciding_rule(const Policy& policy, const SeccompData& data) {
  const Origin from = origin(policy, data);
  switch (from.kind) {
    case Origin::Kind::kBadArch:
      return "bad-arch action: the policy does not name this architecture";
    case Origin::Kind::kX32:
      return "x32 action: the number has the x32 bit";
    case Origin::Kind::kDefault:
      return "default action: no rule matches";
    case Origin::Kind::kRule:
      break;
  }
  std::vector<std::string> branches;
  matching_branches(*from.rule, data, endian_of(data.arch()), branches);
  const std::string name(syscall_name(from.arch, data.nr()));
  return fmt::format("rule set {} of {} ({}), {} on {}{}{}", from.rule_set + 1,
                     policy.rule_sets.size(), describe_action(from.action),
                     name.empty() ? fmt::format("{}", data.nr()) : name, arch_info(from.arch).name,
                     branches.empty() ? "" : ", ", fmt::join(branches, ", "));
}

}  // namespace secequiv
