#include "verify/lint.h"

#include <gtest/gtest.h>

#include "harness/base/random.h"
#include "harness/policy/compile.h"
#include "harness/policy/random_policy.h"
#include "harness/policy/testing.h"
#include "verify/dd/engine.h"

namespace secequiv {
namespace {

using Kind = IdleRule::Kind;

Rule arg0(Matcher::Op op, std::uint64_t value) {
  Rule rule;
  rule.kind = Rule::Kind::kArgs;
  rule.fields[0].op = op;
  rule.fields[0].value = value;
  return rule;
}

Rule any_of(std::vector<Rule> children) {
  Rule rule;
  rule.kind = Rule::Kind::kAnyOf;
  rule.children = std::move(children);
  return rule;
}

Policy policy_of(std::vector<RuleSet> sets) {
  Policy policy;
  policy.name = "test";
  policy.arches = {Arch::kX86_64};
  policy.default_action = SECCOMP_RET_KILL_PROCESS;
  policy.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
  policy.rule_sets = std::move(sets);
  return policy;
}

TEST(Lint, ShadowedAndRedundantRules) {
  const RuleSet deny{
      0x50001, false, {{Arch::kX86_64, 1, Rule{}}, {Arch::kX86_64, 2, arg0(Matcher::Op::kEq, 3)}}};
  const RuleSet allow{SECCOMP_RET_ALLOW,
                      false,
                      {{Arch::kX86_64, 1, arg0(Matcher::Op::kGt, 7)},
                       {Arch::kX86_64, 2,
                        any_of({arg0(Matcher::Op::kLt, 9), arg0(Matcher::Op::kEq, 4),
                                arg0(Matcher::Op::kEq, 12)})}}};
  const RuleSet kill{SECCOMP_RET_KILL_PROCESS, false, {{Arch::kX86_64, 2, Rule{}}}};
  const auto idle = idle_rules(policy_of({deny, allow, kill}), {});
  ASSERT_TRUE(idle) << idle.error().text();
  ASSERT_EQ(idle->size(), 3u);
  EXPECT_EQ((*idle)[0].kind, Kind::kShadowed);  // allow, 1: deny has taken every 1
  EXPECT_EQ((*idle)[0].rule_set, 1u);
  EXPECT_EQ((*idle)[0].nr, 1u);
  EXPECT_EQ((*idle)[1].kind, Kind::kRedundant);  // == 4 is < 9
  EXPECT_EQ((*idle)[1].branches, std::vector<std::size_t>{1});
  EXPECT_EQ((*idle)[2].kind, Kind::kRedundant);  // what the default does anyway
  EXPECT_EQ((*idle)[2].rule_set, 2u);
}

// Removing a rule that is listed changes nothing; removing one that is not changes something.
TEST(Lint, ListsExactlyWhatCanGo) {
  Random random(71);
  int listed = 0;
  int kept = 0;
  for (int i = 0; i < 40; ++i) {
    const Policy policy = random_policy(random);
    const auto idle = idle_rules(policy, {});
    ASSERT_TRUE(idle) << idle.error().text();
    const Program whole = compile(policy);
    for (std::size_t set = 0; set < policy.rule_sets.size(); ++set) {
      for (std::size_t rule = 0; rule < policy.rule_sets[set].rules.size(); ++rule) {
        Policy without = policy;
        auto& rules = without.rule_sets[set].rules;
        const SyscallRule gone = rules[rule];
        rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(rule));
        const bool is_listed = std::ranges::any_of(*idle, [&](const IdleRule& one) {
          return one.rule_set == set && one.arch == gone.arch && one.nr == gone.nr &&
                 one.branches.empty();
        });
        const auto proof = dd::prove(Pair{whole, compile(without), Sameness::kRaw});
        ASSERT_EQ(proof->verdict == Verdict::kEquivalent, is_listed);
        ++(is_listed ? listed : kept);
      }
    }
  }
  EXPECT_GE(listed, 10);
  EXPECT_GE(kept, 50);
}

}  // namespace
}  // namespace secequiv
