// Builds rules and walks their tree, for all passes over rules. Owns these helpers. It must not
// know any pass.
#pragma once

#include <utility>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv::detail {

inline constexpr std::uint64_t kLowHalf = 0xffffffff;
inline constexpr std::uint64_t kHighHalf = 0xffffffff00000000;

// Returns the bits of a field that a matcher can test.
inline std::uint64_t width(const Matcher& m) { return m.low_half ? kLowHalf : ~std::uint64_t{0}; }

// Returns an args rule with one matcher.
inline Rule args_rule(std::size_t field, Matcher matcher) {
  Rule out;
  out.kind = Rule::Kind::kArgs;
  out.fields[field] = std::move(matcher);
  return out;
}

// Returns the any_of or all_of of `children`, a single child itself, or match-all without children.
inline Rule branching(Rule::Kind kind, std::vector<Rule> children) {
  if (children.size() == 1) return std::move(children[0]);
  Rule out;
  if (children.empty()) return out;
  out.kind = kind;
  out.children = std::move(children);
  return out;
}

// Returns `rule` with `change` (Rule → Rule) applied to every node, children first.
template <class Change>
Rule rewrite(const Rule& rule, const Change& change) {
  Rule out;
  out.kind = rule.kind;
  out.fields = rule.fields;
  out.children.reserve(rule.children.size());
  for (const Rule& child : rule.children) out.children.push_back(rewrite(child, change));
  return change(std::move(out));
}

// Returns `rule` with `change` (Matcher& → void) applied to every matcher.
template <class Change>
Rule change_matchers(const Rule& rule, const Change& change) {
  return rewrite(rule, [&](Rule node) {
    if (node.kind == Rule::Kind::kArgs)
      for (Matcher& m : node.fields) change(m);
    return node;
  });
}

}  // namespace secequiv::detail
