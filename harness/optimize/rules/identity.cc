#include "harness/optimize/rules/identity.h"

#include <algorithm>
#include <set>

#include "harness/optimize/rules/tree.h"

namespace secequiv::detail {

Identities::Id Identities::of_leaf(const Rule& rule) {
  if (rule.kind == Rule::Kind::kMatchAll) return kMatchAll;
  std::vector<Id> fields;
  for (std::size_t field = 0; field < rule.fields.size(); ++field)
    if (rule.fields[field].op != Matcher::Op::kAny)
      fields.push_back(of_matcher(field, rule.fields[field]));
  return fields.empty() ? kMatchAll : of_branching(Rule::Kind::kAllOf, fields);
}

Identities::Id Identities::of_branching(Rule::Kind kind, const std::vector<Id>& children) {
  std::vector<Id> flat;
  std::set<Id> seen;
  const auto take = [&](Id id) {
    if (seen.insert(id).second) flat.push_back(id);
  };
  for (const Id child : children) {
    if (child == kMatchAll && kind == Rule::Kind::kAllOf) continue;
    if (nodes_[child].kind == kind) {
      for (const Id grandchild : nodes_[child].children) take(grandchild);
    } else {
      take(child);
    }
  }
  if (flat.empty() || seen.contains(kMatchAll)) return kMatchAll;
  if (flat.size() == 1) return flat[0];
  std::vector<Id> key(seen.begin(), seen.end());
  auto& known = kind == Rule::Kind::kAnyOf ? any_of_ : all_of_;
  const auto [at, added] = known.try_emplace(std::move(key), 0);
  if (added) at->second = add(Node{kind, 0, {}, std::move(flat)});
  return at->second;
}

std::vector<Identities::Id> Identities::conjuncts(Id id) const {
  if (id == kMatchAll) return {};
  if (nodes_[id].kind == Rule::Kind::kAllOf) return nodes_[id].children;
  return {id};
}

Rule Identities::rule(Id id) const {
  const Node& node = nodes_[id];
  if (node.kind == Rule::Kind::kMatchAll) return {};
  if (node.kind == Rule::Kind::kArgs) return args_rule(node.field, node.matcher);
  std::vector<Rule> children;
  children.reserve(node.children.size());
  for (const Id child : node.children) children.push_back(rule(child));
  return branching(node.kind, std::move(children));
}

Identities::Id Identities::of_matcher(std::size_t field, const Matcher& m) {
  const auto [at, added] = matchers_.try_emplace(
      MatcherKey{field, m.op, m.low_half, m.value, m.mask, m.variable.text()}, kMatchAll);
  if (added) at->second = add(Node{Rule::Kind::kArgs, field, m, {}});
  return at->second;
}

Identities::Id Identities::add(Node node) {
  nodes_.push_back(std::move(node));
  return static_cast<Id>(nodes_.size() - 1);
}

}  // namespace secequiv::detail
