#include "analyze/rule_forms.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "analyze/field_rule.h"
#include "harness/optimize/rules/tree.h"

namespace secequiv {
namespace {

constexpr std::size_t kMostAlternativesOfCall = 256;

// Returns the range of values that an all_of describes with kGe and kLe, as matchers, or nothing.
std::optional<std::pair<std::size_t, std::array<Matcher, 2>>> range_of(const Rule& rule) {
  if (rule.kind != Rule::Kind::kAllOf || rule.children.size() != 2) return std::nullopt;
  std::array<Matcher, 2> out;
  std::array<std::size_t, 2> fields{};
  for (std::size_t i = 0; i < 2; ++i) {
    const Rule& child = rule.children[i];
    if (child.kind != Rule::Kind::kArgs || matcher_count(child) != 1) return std::nullopt;
    fields[i] = static_cast<std::size_t>(
        std::ranges::find_if(child.fields,
                             [](const Matcher& m) { return m.op != Matcher::Op::kAny; }) -
        child.fields.begin());
    out[i] = child.fields[fields[i]];
  }
  const bool between = out[0].op == Matcher::Op::kGe && out[1].op == Matcher::Op::kLe;
  if (!between || fields[0] != fields[1] || out[0].low_half != out[1].low_half) return std::nullopt;
  return std::pair(fields[0], out);
}

// Replaces short ranges by their values.
Policy with_values(Policy policy) {
  constexpr std::uint64_t kLongestRange = 16;
  const auto listed = [](Rule rule) {
    const auto range = range_of(rule);
    if (!range) return rule;
    const auto& [field, bounds] = *range;
    if (bounds[1].value < bounds[0].value || bounds[1].value - bounds[0].value >= kLongestRange)
      return rule;
    std::vector<Rule> values;
    for (std::uint64_t i = 0; i <= bounds[1].value - bounds[0].value; ++i) {
      Matcher equal = bounds[0];
      equal.op = Matcher::Op::kEq;
      equal.value += i;
      values.push_back(detail::args_rule(field, std::move(equal)));
    }
    return detail::branching(Rule::Kind::kAnyOf, std::move(values));
  };
  for (RuleSet& set : policy.rule_sets)
    for (SyscallRule& entry : set.rules) entry.rule = detail::rewrite(entry.rule, listed);
  return policy;
}

// Returns conjunctions of which at least one holds if the rule holds, or nothing if there are too
// many.
std::optional<std::vector<Rule>> conjunctions(const Rule& rule) {
  if (!is_branching(rule)) return std::vector{rule};
  const bool any = rule.kind == Rule::Kind::kAnyOf;
  std::vector<Rule> out;
  if (!any) out.emplace_back();
  for (const Rule& child : rule.children) {
    auto more = conjunctions(child);
    if (!more ||
        (any ? out.size() + more->size() : out.size() * more->size()) > kMostAlternativesOfCall)
      return std::nullopt;
    if (any) {
      std::ranges::move(*more, std::back_inserter(out));
      continue;
    }
    std::vector<Rule> both;
    both.reserve(out.size() * more->size());
    for (const Rule& one : out)
      for (const Rule& other : *more) both.push_back(compact_all_of({one, other}));
    out = std::move(both);
  }
  return out;
}

Policy with_alternatives(Policy policy) {
  for (RuleSet& set : policy.rule_sets)
    for (SyscallRule& entry : set.rules)
      if (auto all = conjunctions(entry.rule); all && all->size() > 1)
        entry.rule = detail::branching(Rule::Kind::kAnyOf, std::move(*all));
  return policy;
}

}  // namespace

std::vector<Policy> forms_for_search(const Policy& policy) {
  std::vector<Policy> out;
  Policy values = with_values(policy);
  Policy listed = with_alternatives(values);
  const bool has_alternatives = listed != values;
  if (values != policy) out.push_back(std::move(values));
  if (has_alternatives) out.push_back(std::move(listed));
  return out;
}

}  // namespace secequiv
