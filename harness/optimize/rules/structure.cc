// Passes that look only at the shape of the tree.
#include <algorithm>
#include <set>

#include "harness/optimize/rules/identity.h"
#include "harness/optimize/rules/passes.h"
#include "harness/optimize/rules/tree.h"

namespace secequiv::detail {
namespace {

using Kind = Rule::Kind;

bool is_match_all(const Rule& rule) { return rule.kind == Kind::kMatchAll; }

// Collects the children of `rule`. A child of the same kind is replaced by its own children.
void collect_flat(const Rule& rule, std::vector<Rule>& out) {
  for (const Rule& child : rule.children) {
    if (child.kind == rule.kind) {
      collect_flat(child, out);
    } else {
      out.push_back(flatten_nested(child));
    }
  }
}

Identified without_duplicates(const Rule& rule, Identities& identities) {
  if (!is_branching(rule)) return {rule, identities.of_leaf(rule)};
  Identified out;
  out.rule.kind = rule.kind;
  std::vector<Identities::Id> kept;
  std::set<Identities::Id> seen;
  for (const Rule& child : rule.children) {
    Identified next = without_duplicates(child, identities);
    if (!seen.insert(next.id).second) continue;
    kept.push_back(next.id);
    out.rule.children.push_back(std::move(next.rule));
  }
  out.id = identities.of_branching(rule.kind, kept);
  return out;
}

}  // namespace

Rule unwrap_single(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    if (!is_branching(node) || node.children.size() != 1) return node;
    Rule child = std::move(node.children[0]);
    return child;
  });
}

Rule flatten_nested(const Rule& rule) {
  if (!is_branching(rule)) return rule;
  Rule out;
  out.kind = rule.kind;
  collect_flat(rule, out.children);
  return out;
}

Rule drop_duplicates(const Rule& rule) {
  Identities identities;
  return without_duplicates(rule, identities).rule;
}

Rule any_of_match_all(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    if (node.kind != Kind::kAnyOf || std::ranges::none_of(node.children, is_match_all)) return node;
    return Rule{};
  });
}

Rule all_of_match_all(const Rule& rule) {
  return rewrite(rule, [](Rule node) {
    if (node.kind != Kind::kAllOf) return node;
    std::erase_if(node.children, is_match_all);
    return node.children.empty() ? Rule{} : std::move(node);
  });
}

}  // namespace secequiv::detail
