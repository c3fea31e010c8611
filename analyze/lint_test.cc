#include "analyze/lint.h"

#include <gtest/gtest.h>

#include "harness/base/random.h"
#include "harness/generate/policy.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "verify/dd/engine.h"

namespace secequiv::analyze_lint_test {
namespace {

using Kind = RedundantRule::Kind;

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

Rule all_of(std::vector<Rule> children) {
  Rule rule = any_of(std::move(children));
  rule.kind = Rule::Kind::kAllOf;
  return rule;
}

Rule arg1(Rule rule, std::uint64_t value) {
  rule.kind = Rule::Kind::kArgs;
  rule.fields[1].op = Matcher::Op::kEq;
  rule.fields[1].value = value;
  return rule;
}

Rule is(std::uint64_t value) { return arg0(Matcher::Op::kEq, value); }

Policy policy_of(std::vector<RuleSet> sets) {
  Policy policy;
  policy.name = "test";
  policy.arches = {Arch::kX86_64};
  policy.default_action = SECCOMP_RET_KILL_PROCESS;
  policy.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
  policy.rule_sets = std::move(sets);
  return policy;
}

TEST(Lint, FindsShadowedAndRedundantRules) {
  const RuleSet deny{
      0x50001, false, {{Arch::kX86_64, 1, Rule{}}, {Arch::kX86_64, 2, arg0(Matcher::Op::kEq, 3)}}};
  const RuleSet allow{SECCOMP_RET_ALLOW,
                      false,
                      {{Arch::kX86_64, 1, arg0(Matcher::Op::kGt, 7)},
                       {Arch::kX86_64, 2,
                        any_of({arg0(Matcher::Op::kLt, 9), arg0(Matcher::Op::kEq, 4),
                                arg0(Matcher::Op::kEq, 12)})}}};
  const RuleSet kill{SECCOMP_RET_KILL_PROCESS, false, {{Arch::kX86_64, 2, Rule{}}}};
  const auto redundant = redundant_rules(policy_of({deny, allow, kill}), {});
  ASSERT_TRUE(redundant) << redundant.error().text();
  ASSERT_EQ(redundant->size(), 3u);
  EXPECT_EQ((*redundant)[0].kind, Kind::kShadowed);  // deny already matches every call 1
  EXPECT_EQ((*redundant)[0].place.rule_set, 1u);
  EXPECT_EQ((*redundant)[0].place.nr, 1u);
  EXPECT_EQ((*redundant)[1].kind, Kind::kRedundant);  // == 4 implies < 9
  EXPECT_EQ((*redundant)[1].part, RulePart{1});
  EXPECT_EQ((*redundant)[2].kind, Kind::kRedundant);  // the default does the same
  EXPECT_EQ((*redundant)[2].place.rule_set, 2u);
}

std::vector<RedundantRule> redundant_in(const Rule& rule) {
  auto redundant = redundant_rules(
      policy_of({RuleSet{SECCOMP_RET_ALLOW, false, {{Arch::kX86_64, 1, rule}}}}), {});
  if (redundant) return std::move(*redundant);
  ADD_FAILURE() << redundant.error().text();
  return {};
}

TEST(Lint, ListsDuplicatesButNotTheirOriginals) {
  const auto redundant =
      redundant_in(any_of({is(1), all_of({is(2), arg1({}, 3)}), any_of({is(4), is(1)}),
                           all_of({is(2), arg1({}, 3)}), is(4)}));
  ASSERT_EQ(redundant.size(), 3u);
  for (const RedundantRule& one : redundant) EXPECT_EQ(one.kind, Kind::kDuplicate);
  EXPECT_EQ(redundant[0].part, (RulePart{2, 1}));
  EXPECT_EQ(redundant[0].originals, std::vector<RulePart>{{0}});
  EXPECT_EQ(redundant[1].part, RulePart{3});
  EXPECT_EQ(redundant[1].originals, std::vector<RulePart>{{1}});
  EXPECT_EQ(redundant[2].part, RulePart{4});
  EXPECT_EQ(redundant[2].originals, (std::vector<RulePart>{{2, 0}}));
}

TEST(Lint, AnAnyOfWithoutNewPartsIsRedundantAsAWhole) {
  const auto redundant = redundant_in(any_of({is(1), is(2), any_of({is(2), is(1), is(2)})}));
  ASSERT_EQ(redundant.size(), 1u);
  EXPECT_EQ(redundant[0].part, RulePart{2});
  EXPECT_EQ(redundant[0].originals, (std::vector<RulePart>{{1}, {0}, {1}}));
}

TEST(Lint, TheSameValueUnderAnotherNameIsNotADuplicate) {
  Rule named = is(1);
  named.fields[0].variable = "fd";
  const auto redundant = redundant_in(any_of({is(1), named}));
  ASSERT_EQ(redundant.size(), 2u);
  for (const RedundantRule& one : redundant) EXPECT_EQ(one.kind, Kind::kRedundant);
}

// Each duplicate can be removed on its own, and a rule remains.
TEST(Lint, DuplicatesCanBeRemoved) {
  Random random(5);
  int duplicates = 0;
  for (int i = 0; i < 60; ++i) {
    const Policy policy = random_policy(random);
    const auto redundant = redundant_rules(policy, {});
    ASSERT_TRUE(redundant) << redundant.error().text();
    for (const RedundantRule& one : *redundant) {
      if (one.kind != Kind::kDuplicate) continue;
      Policy without = policy;
      Rule* at = nullptr;
      for (SyscallRule& rule : without.rule_sets[one.place.rule_set].rules)
        if (rule.arch == one.place.arch && rule.nr == one.place.nr) at = &rule.rule;
      for (std::size_t k = 0; k + 1 < one.part.size(); ++k) at = &at->children[one.part[k]];
      at->children.erase(at->children.begin() + static_cast<std::ptrdiff_t>(one.part.back()));
      ASSERT_FALSE(at->children.empty());
      const auto proof = dd::prove(Pair{compile(policy), compile(without), Sameness::kRaw});
      EXPECT_EQ(proof->verdict, Verdict::kEquivalent);
      ++duplicates;
    }
  }
  EXPECT_GE(duplicates, 3);
}

TEST(Lint, WarnsAboutDoubtfulRules) {
  const auto doubts = [](const Rule& rule) {
    return doubtful_rules(
        policy_of({RuleSet{0x50001, false, {}},
                   RuleSet{SECCOMP_RET_ALLOW, false, {{Arch::kX86_64, 7, rule}}}}));
  };
  EXPECT_TRUE(doubts(any_of({is(1), is(2)})).empty());
  EXPECT_TRUE(doubts(all_of({any_of({is(1), arg1(is(2), 1)}), arg1({}, 1)})).empty())
      << "every alternative is checked around it";
  const auto forgotten = doubts(any_of({is(1), arg1(is(2), 1), any_of({is(3), is(4)})}));
  ASSERT_EQ(forgotten.size(), 1u);
  EXPECT_EQ(forgotten[0].kind, DoubtfulRule::Kind::kInconsistent);
  EXPECT_EQ(forgotten[0].place.rule_set, 1u);
  EXPECT_EQ(forgotten[0].place.nr, 7u);
  EXPECT_EQ(forgotten[0].field, 1);
  EXPECT_EQ(forgotten[0].checked, RulePart{1});
  EXPECT_EQ(forgotten[0].unchecked, (std::vector<RulePart>{{0}, {2}}));
  const auto match_all = doubts(any_of({is(1), Rule{}}));
  ASSERT_EQ(match_all.size(), 1u);
  EXPECT_EQ(match_all[0].kind, DoubtfulRule::Kind::kMatchAll);
  EXPECT_EQ(match_all[0].unchecked, std::vector<RulePart>{{1}});
}

// Every value passes the test of the low half, but not that of the whole argument.
TEST(Lint, ATestOfTheLowHalfIsAnotherCondition) {
  const Rule whole = arg0(Matcher::Op::kLe, 0xffffffff);
  Rule low = whole;
  low.fields[0].low_half = true;
  for (const std::uint32_t trivial : {0u, 1u}) {
    const std::vector<SyscallRule> rules = {{Arch::kX86_64, 0, trivial == 0 ? low : whole},
                                            {Arch::kX86_64, 1, trivial == 1 ? low : whole}};
    const auto found = trivial_conditions(policy_of({RuleSet{SECCOMP_RET_ALLOW, false, rules}}),
                                          PolicyFormat::kOwn, {});
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_EQ(found->size(), 1u);
    EXPECT_EQ(found->front().kind, DoubtfulRule::Kind::kAlwaysTrue);
    EXPECT_EQ(found->front().place.nr, trivial);
  }
}

// Removing a listed rule changes no decision. Removing any other rule changes some decision.
TEST(Lint, ListsExactlyTheRemovableParts) {
  Random random(71);
  int listed = 0;
  int kept = 0;
  for (int i = 0; i < 40; ++i) {
    const Policy policy = random_policy(random);
    const auto redundant = redundant_rules(policy, {});
    ASSERT_TRUE(redundant) << redundant.error().text();
    const Program whole = compile(policy);
    for (std::size_t set = 0; set < policy.rule_sets.size(); ++set) {
      for (std::size_t rule = 0; rule < policy.rule_sets[set].rules.size(); ++rule) {
        Policy without = policy;
        auto& rules = without.rule_sets[set].rules;
        const SyscallRule gone = rules[rule];
        rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(rule));
        const bool is_listed = std::ranges::any_of(*redundant, [&](const RedundantRule& one) {
          return one.place.rule_set == set && one.place.arch == gone.arch &&
                 one.place.nr == gone.nr && one.part.empty();
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
}  // namespace secequiv::analyze_lint_test
