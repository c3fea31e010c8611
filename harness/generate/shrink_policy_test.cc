// Tests that failing policies are reduced to small ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "adapters/broken/planted_passes.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/generate/shrink.h"
#include "harness/inputs/cases.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::generate_shrink_policy_test {
namespace {

#ifdef SECEQUIV_FULL_TESTS
constexpr int kFound = 2;
#else
constexpr int kFound = 1;
#endif

using Predicate = std::function<bool(const Policy&)>;

Policy shrunk(const Policy& policy, const Predicate& still) {
  std::size_t calls = 0;
  const auto asked = [&](const Policy& candidate) {
    ++calls;
    const std::string text = write_policy(candidate);
    const auto back = read_policy(text, "asked");
    EXPECT_TRUE(back) << back.error().text() << "\n" << text;
    if (back) {
      EXPECT_EQ(write_policy(*back), text);
    }
    return still(candidate);
  };
  const ShrunkPolicy out = shrink(policy, asked);
  EXPECT_EQ(out.calls, calls);
  EXPECT_EQ(out.end, ShrinkEnd::kMinimal) << calls << " calls\n" << write_policy(out.result);
  EXPECT_TRUE(still(out.result));
  Policy smaller;
  const bool reducible = any_reduction(out.result, [&](const Policy& candidate) {
    smaller = candidate;
    return still(candidate);
  });
  EXPECT_FALSE(reducible) << write_policy(out.result) << "reducible to\n" << write_policy(smaller);
  return out.result;
}

bool has(const Rule& rule, const std::function<bool(const Matcher&)>& is) {
  return std::ranges::any_of(rule.fields, is) ||
         std::ranges::any_of(rule.children, [&](const Rule& child) { return has(child, is); });
}
bool has(const Policy& policy, const std::function<bool(const Matcher&)>& is) {
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules)
      if (has(entry.rule, is)) return true;
  return false;
}

TEST(ShrinkPolicy, FindsTheOnlySmallestPolicy) {
  Random random(210);
  const auto masked = [](const Policy& policy) {
    return has(policy, [](const Matcher& m) {
      return m.op == Matcher::Op::kMaskedEq && m.value > 0xffff && !m.low_half;
    });
  };
  int tried = 0;
  while (tried < std::max(1, of_cases(10))) {
    const Policy policy = random_policy(random);
    if (!masked(policy)) continue;
    ++tried;
    const Policy out = shrunk(policy, masked);
    ASSERT_EQ(out.rule_sets.size(), 1u);
    ASSERT_EQ(out.rule_sets[0].rules.size(), 1u);
    const SyscallRule& entry = out.rule_sets[0].rules[0];
    EXPECT_EQ(out.arches, std::vector{Arch::kX86_64});
    EXPECT_EQ(entry.nr, 0u);
    EXPECT_EQ(entry.rule.kind, Rule::Kind::kArgs);
    EXPECT_EQ(matcher_count(entry.rule), 1u);
    EXPECT_EQ(entry.rule.fields[0].mask, 0u);
    EXPECT_EQ(entry.rule.fields[0].value & (entry.rule.fields[0].value - 1), 0u);
    EXPECT_FALSE(out.x32_action);
    EXPECT_TRUE(out.variables.empty());
    EXPECT_TRUE(out.hot.empty());
    EXPECT_EQ(out.default_action, SECCOMP_RET_ALLOW);
  }
}

TEST(ShrinkPolicy, ReducesToTheExpectedText) {
  const Policy policy = policy_from(R"j({"version": 1, "name": "n", "description": "d",
    "arches": ["i386", "x86_64"], "default_action": "kill_process", "bad_arch_action": "trap(3)",
    "x32_action": "errno(5)", "hot": ["read", "x86_64:open"], "variables": {"a": 5, "b": 77},
    "rule_sets": [
      {"action": "errno(13)", "rules": {"open": {"args": {"3": {"eq": "$a"}}}}},
      {"action": "allow", "vsyscall": true, "rules": {"x86_64:9": true, "x86_64:openat": {"all_of": [
        {"any_of": [{"args": {"1": {"eq": 7}}}, {"args": {"2": {"lt": "$b"}, "3": {"eq": 4096}}}]}]}}},
      {"action": "log", "rules": {"read": true}}]})j");
  const auto uses_b = [](const Policy& p) {
    return has(p, [](const Matcher& m) {
      return m.op == Matcher::Op::kLt && m.variable.text() == "b" && m.value > 8;
    });
  };
  EXPECT_EQ(write_policy(shrunk(policy, uses_b)), R"({
 "version": 1,
 "arches": [
  "x86_64"
 ],
 "default_action": "allow",
 "bad_arch_action": "allow",
 "variables": {
  "b": 9
 },
 "rule_sets": [
  {
   "action": "allow",
   "rules": {
    "read": {
     "args": {
      "0": {
       "lt": "$b"
      }
     }
    }
   }
  }
 ]
}
)");
}

TEST(ShrinkPolicy, PrefersAnotherActionToOtherData) {
  const Policy policy = policy_from(R"j({"version": 1, "arches": ["x86_64"],
    "default_action": "errno(13)", "rule_sets": [{"action": "errno(5)", "rules": {"read": true}}]})j");
  const auto two_values = [](const Policy& p) {
    return p.rule_sets.size() == 1 && p.rule_sets[0].action != p.default_action;
  };
  const Policy different = shrunk(policy, two_values);
  EXPECT_EQ(std::set({different.default_action, different.rule_sets[0].action}),
            std::set({SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO}));
  const Policy same_action = shrunk(policy, [&](const Policy& p) {
    return two_values(p) && action_of(p.rule_sets[0].action) == action_of(p.default_action);
  });
  EXPECT_EQ(std::set({same_action.default_action, same_action.rule_sets[0].action}),
            std::set({SECCOMP_RET_ERRNO, SECCOMP_RET_ERRNO | 1}));
}

TEST(ShrinkPolicy, StopsAtTheLimitOfCalls) {
  Random random(211);
  for (const std::size_t limit : {0u, 1u, 2u, 9u}) {
    Policy policy = random_policy(random);
    while (policy.rule_sets.size() < 4) policy = random_policy(random);
    std::size_t calls = 0;
    const ShrunkPolicy out = shrink(policy,
                                    [&](const Policy& p) {
                                      ++calls;
                                      return !p.rule_sets.empty();
                                    },
                                    {limit});
    EXPECT_EQ(out.end, ShrinkEnd::kCalls);
    EXPECT_EQ(calls, limit);
    EXPECT_FALSE(out.result.rule_sets.empty());
  }
  const ShrunkPolicy out = shrink(random_policy(random), [](const Policy&) { return false; });
  EXPECT_EQ(out.end, ShrinkEnd::kRefused);
}

// Derived inputs show the planted bugs of rule passes and layouts.
std::vector<broken::PlantedPass> planted_passes() {
  std::vector<broken::PlantedPass> out;
  for (const auto of : {broken::planted_rule_passes(), broken::planted_layout_passes()})
    out.insert(out.end(), of.begin(), of.end());
  return out;
}

// Compiles with only this pass planted. A layout pass runs after the standard passes that precede
// it.
Program with_planted(const broken::PlantedPass& planted, const Policy& policy) {
  if (const auto* run_rules = std::get_if<RulePass>(&planted.run)) {
    Policy wrong = policy;
    for (RuleSet& set : wrong.rule_sets)
      for (SyscallRule& entry : set.rules) entry.rule = (*run_rules)(entry.rule);
    return compile(wrong);
  }
  std::vector<const Pass*> earlier;
  for (const Pass* pass : standard_passes()) {
    if (pass->name == planted.pass) break;
    if (pass->run.index() == planted.run.index()) earlier.push_back(pass);
  }
  return render(std::get<LayoutPass>(planted.run)(lay_out(policy, earlier)));
}

class ShrinkPolicyPlantedPass : public testing::TestWithParam<broken::PlantedPass> {};

TEST_P(ShrinkPolicyPlantedPass, ShrinksToAFewRules) {
  const auto differs = [&](const Policy& policy) {
    const Program after = with_planted(GetParam(), policy);
    const Cases cases = derive_cases(policy, {.per_syscall = 60, .total = 1000});
    return std::ranges::any_of(cases.inputs, [&](const SeccompData& data) {
      return run(after, data) != decide(policy, data);
    });
  };
  Random random(212);
  for (int found = 0, i = 0; found < kFound && i < 3000; ++i) {
    const Policy policy = random_policy(random);
    if (!differs(policy)) continue;
    ++found;
    const Policy small = shrunk(policy, differs);
    std::size_t rules = 0;
    for (const RuleSet& set : small.rule_sets) rules += set.rules.size();
    EXPECT_LE(rules, GetParam().pass == "search-trees" ? 5u : 2u) << GetParam().bug << "\n"
                                                                  << write_policy(small);
  }
}

INSTANTIATE_TEST_SUITE_P(RulesAndLayout, ShrinkPolicyPlantedPass,
                         testing::ValuesIn(some_of(planted_passes())), [](const auto& parameter) {
                           std::string name(parameter.param.pass);
                           std::ranges::replace(name, '-', '_');
                           return name + "_" + std::to_string(parameter.index);
                         });

}  // namespace
}  // namespace secequiv::generate_shrink_policy_test
