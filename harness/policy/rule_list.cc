#include "harness/policy/rule_list.h"

#include <algorithm>
#include <limits>
#include <optional>

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
  if (std::ranges::any_of(children, always)) return {};
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
  if ((value & ~mask) != 0) return {};  // never equal
  if (mask == whole) {
    m.op = Matcher::Op::kNe;
    m.value = value;
    return test_of(field, m);
  }
  // Bits from some one upward, not all 0: a bound.
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
  m.op = Matcher::Op::kLt;  // 0 is always 0
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
  std::vector<RuleSet> out;
  std::map<std::pair<Arch, std::uint32_t>, std::size_t> next;
  while (true) {
    // Each round takes the action that most system calls wait for.
    std::map<std::uint32_t, std::size_t> waiting;
    for (const auto& [call, entries] : calls_)
      if (next[call] < entries.size()) ++waiting[entries[next[call]].action];
    if (waiting.empty()) return out;
    RuleSet set;
    set.action =
        std::ranges::max_element(waiting, {}, [](const auto& w) { return w.second; })->first;
    for (auto& [call, entries] : calls_) {
      std::size_t& at = next[call];
      if (at >= entries.size() || entries[at].action != set.action) continue;
      set.rules.push_back(
          SyscallRule{call.first, call.second, any_of(std::move(entries[at].alternatives))});
      ++at;
    }
    out.push_back(std::move(set));
  }
}

}  // namespace secequiv
