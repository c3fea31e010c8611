#include "fuzz/hunt/spelling.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace secequiv::hunt {
namespace {

void make_strict(Matcher& test) {
  if (!test.variable.empty()) return;
  const std::uint64_t most = test.low_half ? 0xffffffff : ~std::uint64_t{0};
  if (test.op == Matcher::Op::kGe && test.value > 0) {
    test.op = Matcher::Op::kGt;
    --test.value;
  } else if (test.op == Matcher::Op::kLe && test.value < most) {
    test.op = Matcher::Op::kLt;
    ++test.value;
  }
}

// The structure of a rule, then its numbers.
using Key = std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>>;

void add(Key& key, const Rule& rule) {
  key.first.push_back(static_cast<std::uint64_t>(rule.kind));
  key.first.push_back(rule.children.size());
  for (std::uint64_t at = 0; const Matcher& test : rule.fields) {
    ++at;
    if (test.op == Matcher::Op::kAny) continue;
    key.first.push_back(2 * static_cast<std::uint64_t>(test.op) + (test.low_half ? 1 : 0));
    key.second.insert(key.second.end(), {at, test.value, test.mask});
  }
  for (const Rule& child : rule.children) add(key, child);
}

void make_strict(Rule& rule) {
  for (Matcher& test : rule.fields) make_strict(test);
  for (Rule& child : rule.children) make_strict(child);
}

void sort(Rule& rule) {
  for (Rule& child : rule.children) sort(child);
  std::vector<std::pair<Key, std::size_t>> order;
  for (const Rule& child : rule.children) add(order.emplace_back(Key{}, order.size()).first, child);
  std::ranges::sort(order);
  std::vector<Rule> sorted;
  sorted.reserve(order.size());
  for (const auto& [key, at] : order) sorted.push_back(std::move(rule.children[at]));
  rule.children = std::move(sorted);
}

}  // namespace

Policy with_sorted_rules(Policy policy) {
  for (RuleSet& set : policy.rule_sets)
    for (SyscallRule& entry : set.rules) sort(entry.rule);
  return policy;
}

Policy with_strict_tests(Policy policy) {
  for (RuleSet& set : policy.rule_sets)
    for (SyscallRule& entry : set.rules) make_strict(entry.rule);
  return policy;
}

}  // namespace secequiv::hunt
