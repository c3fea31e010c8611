#include "harness/import/rule_list.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace secequiv {
namespace {

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

bool always(const Rule& rule) { return rule.kind == Rule::Kind::kMatchAll; }

}  // namespace

Rule test_of(std::size_t field, const Matcher& matcher) {
  Rule rule;
  rule.kind = Rule::Kind::kArgs;
  rule.fields[field] = matcher;
  return rule;
}

Rule all_of(std::vector<Rule> children) {
  std::erase_if(children, always);
  if (children.empty()) return {};
  if (children.size() == 1) return std::move(children[0]);
  Rule rule;
  rule.kind = Rule::Kind::kAllOf;
  rule.children = std::move(children);
  return rule;
}

Rule any_of(std::vector<Rule> children) {
  if (const auto whole = std::ranges::find_if(children, always); whole != children.end())
    return std::move(*whole);
  if (children.size() == 1) return std::move(children[0]);
  Rule rule;
  rule.kind = Rule::Kind::kAnyOf;
  rule.children = std::move(children);
  return rule;
}

Rule masked_ne(std::size_t field, std::uint64_t mask, std::uint64_t value, bool low_half) {
  Matcher m;
  m.low_half = low_half;
  const std::uint64_t whole = low_half ? 0xffffffff : kAll;
  mask &= whole;
  if ((value & ~mask) != 0) return {};  // the field never equals the value
  if (mask == whole) {
    m.op = Matcher::Op::kNe;
    m.value = value;
    return test_of(field, m);
  }
  // The mask selects all bits from some bit upward, and at least one of them must be 1. So the
  // field is at least `lowest`.
  const std::uint64_t lowest = mask & (~mask + 1);
  if (value == 0 && mask == (whole & ~(lowest - 1)) && mask != 0) {
    m.op = Matcher::Op::kGe;
    m.value = lowest;
    return test_of(field, m);
  }
  std::vector<Rule> bits;
  m.op = Matcher::Op::kMaskedEq;
  for (std::uint64_t left = mask; left != 0; left &= left - 1) {
    m.mask = left & (~left + 1);
    m.value = ~value & m.mask;
    bits.push_back(test_of(field, m));
  }
  if (!bits.empty()) return any_of(std::move(bits));
  // The field under an empty mask is always 0, so the rule must never match.
  m.op = Matcher::Op::kLt;
  m.value = m.mask = 0;
  return test_of(field, m);
}

void RuleList::add(Arch arch, std::uint32_t nr, Rule rule, std::uint32_t action) {
  std::vector<Entry>& entries = calls_[{arch, nr}];
  if (!entries.empty() && always(entries.back().alternatives.back())) return;
  if (entries.empty() || entries.back().action != action) entries.push_back({action, {}});
  entries.back().alternatives.push_back(std::move(rule));
}

std::vector<RuleSet> RuleList::rule_sets() && {
  struct Waiting {
    Call call;
    std::vector<Entry>* entries;
    std::size_t next;
  };
  std::map<std::uint32_t, std::vector<Waiting>> waiting;  // keyed by the action of the next entry
  for (auto& [call, entries] : calls_) waiting[entries[0].action].push_back({call, &entries, 0});
  // The action for which the most system calls wait comes first. If as many calls wait for two
  // actions, the lower action comes first.
  std::set<std::pair<std::size_t, std::uint32_t>> order;
  const auto rank = [&](std::uint32_t action, std::size_t calls) {
    return std::pair(std::numeric_limits<std::size_t>::max() - calls, action);
  };
  for (const auto& [action, calls] : waiting) order.insert(rank(action, calls.size()));
  std::vector<RuleSet> out;
  while (!order.empty()) {
    RuleSet set;
    set.action = order.begin()->second;
    order.erase(order.begin());
    std::vector<Waiting> taken = std::exchange(waiting[set.action], {});
    std::ranges::sort(taken, {}, &Waiting::call);
    for (Waiting& one : taken) {
      set.rules.push_back(SyscallRule{one.call.first, one.call.second,
                                      any_of(std::move((*one.entries)[one.next].alternatives))});
      if (++one.next == one.entries->size()) continue;
      const std::uint32_t action = (*one.entries)[one.next].action;
      std::vector<Waiting>& others = waiting[action];
      order.erase(rank(action, others.size()));
      others.push_back(one);
      order.insert(rank(action, others.size()));
    }
    out.push_back(std::move(set));
  }
  return out;
}

}  // namespace secequiv
