#include "harness/import/rule_list.h"

#include <gtest/gtest.h>

namespace secequiv::import_rule_list_test {
namespace {

Rule equal(std::uint64_t value) {
  Matcher m;
  m.op = Matcher::Op::kEq;
  m.value = value;
  return test_of(0, m);
}

// Returns "action: number number; ...".
std::string shown(const std::vector<RuleSet>& sets) {
  std::string out;
  for (const RuleSet& set : sets) {
    out += std::to_string(set.action) + ":";
    for (const SyscallRule& rule : set.rules) out += " " + std::to_string(rule.nr);
    out += "; ";
  }
  return out;
}

TEST(RuleList, ActionWithMostWaitingCallsComesNext) {
  RuleList list;
  list.add(Arch::kX86_64, 3, equal(1), 7);
  list.add(Arch::kX86_64, 3, equal(2), 7);
  list.add(Arch::kX86_64, 1, equal(1), 5);
  list.add(Arch::kX86_64, 1, {}, 7);
  list.add(Arch::kX86_64, 1, {}, 9);
  list.add(Arch::kX86_64, 2, equal(1), 5);
  list.add(Arch::kX86_64, 2, equal(2), 9);
  list.add(Arch::kX86_64, 2, {}, 5);
  const auto sets = std::move(list).rule_sets();
  EXPECT_EQ(shown(sets), "5: 1 2; 7: 1 3; 9: 2; 5: 2; ");
  EXPECT_EQ(sets[1].rules[1].rule.children.size(), 2);
  EXPECT_EQ(shown(RuleList().rule_sets()), "");
}

// The time must not grow with the product of calls and rule sets, which would take minutes here.
TEST(RuleList, ManyCallsAndRuleSetsTakeLittleTime) {
  constexpr std::uint32_t kMany = 20000;
  RuleList list;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    list.add(Arch::kX86_64, i + 1, {}, 1);
    list.add(Arch::kX86_64, 0, equal(i), 2 + i % 2);
  }
  const auto sets = std::move(list).rule_sets();
  ASSERT_EQ(sets.size(), kMany + 1);
  EXPECT_EQ(sets[0].rules.size(), kMany);
  for (std::uint32_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(sets[i + 1].action, 2 + i % 2);
    ASSERT_EQ(sets[i + 1].rules[0].rule.fields[0].value, i);
  }
}

}  // namespace
}  // namespace secequiv::import_rule_list_test
