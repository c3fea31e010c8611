#include "harness/policy/variables.h"

#include <map>
#include <string_view>

namespace secequiv {
namespace {

void set_values(Rule& rule, const std::map<std::string_view, std::uint32_t>& values) {
  for (Rule& child : rule.children) set_values(child, values);
  for (Matcher& m : rule.fields) {
    if (m.variable.empty()) continue;
    if (const auto found = values.find(m.variable.text()); found != values.end())
      m.value = found->second;
  }
}

void collect_variables(const Rule& rule, std::set<std::string>& names) {
  for (const Rule& child : rule.children) collect_variables(child, names);
  for (const Matcher& m : rule.fields)
    if (!m.variable.empty()) names.insert(m.variable.text());
}

}  // namespace

std::set<std::string> used_variables(const Policy& policy) {
  std::set<std::string> out;
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules) collect_variables(entry.rule, out);
  return out;
}

Policy with_values(const Policy& policy, VariableValues values) {
  Policy out = policy;
  const std::map<std::string_view, std::uint32_t> by_name(values.begin(), values.end());
  for (auto& [name, value] : out.variables)
    if (const auto found = by_name.find(name); found != by_name.end()) value = found->second;
  for (RuleSet& set : out.rule_sets)
    for (SyscallRule& entry : set.rules) set_values(entry.rule, by_name);
  return out;
}

}  // namespace secequiv
