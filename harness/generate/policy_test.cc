#include "harness/generate/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/mutate.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/seccomp/action.h"

namespace secequiv::generate_policy_test {
namespace {

// Checks that read_policy can produce the policy, and that the compiled policy makes the same
// decisions.
void expect_legal(const Policy& policy, Random& random) {
  const std::string text = write_policy(policy);
  const auto back = read_policy(text, "generated");
  ASSERT_TRUE(back) << back.error().text() << "\n" << text;
  ASSERT_EQ(write_policy(*back), text);
  ASSERT_EQ(back->rule_sets.size(), policy.rule_sets.size());
  for (std::size_t i = 0; i < policy.rule_sets.size(); ++i) {
    const auto& rules = policy.rule_sets[i].rules;
    ASSERT_EQ(back->rule_sets[i].rules.size(), rules.size()) << text;
    for (std::size_t j = 0; j < rules.size(); ++j) {
      ASSERT_EQ(back->rule_sets[i].rules[j].arch, rules[j].arch) << text;
      ASSERT_EQ(back->rule_sets[i].rules[j].nr, rules[j].nr) << text;
      ASSERT_EQ(back->rule_sets[i].rules[j].rule, rules[j].rule) << text;
    }
  }
  const Program program = compile(policy);
  ASSERT_FALSE(refusal_of(program, LengthRule::kUnlimited));
  for (int i = 0; i < 5; ++i) {
    const SeccompData data = random_call(random, policy);
    ASSERT_EQ(run(program, data), decide(policy, data)) << text;
  }
}

void count_matchers(const Rule& rule, std::map<std::string_view, int>& seen) {
  for (const Rule& child : rule.children) count_matchers(child, seen);
  seen["many values"] += rule.children.size() > 100 ? 1 : 0;
  for (const Matcher& m : rule.fields) {
    const bool order = m.op >= Matcher::Op::kGt && m.op <= Matcher::Op::kLe;
    seen["masked value 0"] += m.op == Matcher::Op::kMaskedEq && m.value == 0 ? 1 : 0;
    seen["mask 0"] += m.op == Matcher::Op::kMaskedEq && m.mask == 0 ? 1 : 0;
    seen["no bits"] += m.op == Matcher::Op::kBitsAllowlist && m.mask == 0 ? 1 : 0;
    seen["wide order"] += order && m.value >> 32 != 0 ? 1 : 0;
    seen["signed fd"] += m.op == Matcher::Op::kNonNegativeFd ? 1 : 0;
    seen["low half"] += m.low_half ? 1 : 0;
  }
}

TEST(GeneratePolicy, PoliciesAreLegalAndUseEveryFeature) {
  Random random(320);
  std::map<std::string_view, int> seen;
  for (int i = 0; i < 2000; ++i) {
    const auto shape = static_cast<PolicyShape>(static_cast<std::size_t>(i) % kPolicyShapes);
    const Policy policy = generate_policy(random, shape);
    if (i / static_cast<int>(kPolicyShapes) % kShare == 0) expect_legal(policy, random);
    if (HasFatalFailure()) return;
    // The plain shape would hide features that the other shapes lack.
    if (shape == PolicyShape::kPlain) continue;
    seen["several arches"] += policy.arches.size() > 1 ? 1 : 0;
    seen["x32 action"] += policy.x32_action ? 1 : 0;
    seen["x32"] += policy.has_arch(Arch::kX32) ? 1 : 0;
    std::set<std::uint32_t> actions;
    std::size_t data = 0;
    for (const RuleSet& set : policy.rule_sets) {
      seen["empty set"] += set.rules.empty() ? 1 : 0;
      seen["many calls"] += set.rules.size() > 16 ? 1 : 0;
      seen["vsyscall"] += set.vsyscall ? 1 : 0;
      seen["equal actions"] += actions.insert(set.action).second ? 0 : 1;
      data += action_of(set.action) == action_of(policy.default_action) &&
                      set.action != policy.default_action
                  ? 1
                  : 0;
      for (const SyscallRule& entry : set.rules) {
        seen["number -1"] += entry.nr == 0xffffffff ? 1 : 0;
        seen["x32 number"] += entry.arch == Arch::kX86_64 && (entry.nr & kX32Bit) != 0 ? 1 : 0;
        seen["pseudo number"] += entry.nr >> 16 == 0xf ? 1 : 0;
        count_matchers(entry.rule, seen);
      }
    }
    seen["data bits apart"] += data > 0 ? 1 : 0;
  }
  for (const char* what : {"several arches", "x32 action", "x32", "empty set", "many calls",
                           "vsyscall", "equal actions", "data bits apart", "number -1",
                           "x32 number", "pseudo number", "masked value 0", "mask 0", "no bits",
                           "wide order", "signed fd", "low half", "many values"})
    EXPECT_GT(seen[what], 5) << what;
}

std::vector<std::string_view> features_of(const Policy& policy) {
  std::vector<std::string_view> out;
  for (const std::uint16_t index : describe_policy(policy)) out.push_back(policy_features()[index]);
  return out;
}

TEST(GeneratePolicy, LimitsHoldForEveryShape) {
  Random random(324);
  const PolicyLimits limits{.arches = {Arch::kAarch64, Arch::kI386}, .low_halves = false};
  std::map<Arch, int> seen;
  for (int i = 0; i < of_cases(900); ++i) {
    const Policy policy = generate_policy(
        random, static_cast<PolicyShape>(static_cast<std::size_t>(i) % kPolicyShapes), limits);
    for (const Arch arch : policy.arches) {
      ++seen[arch];
      EXPECT_NE(std::ranges::find(limits.arches, arch), limits.arches.end());
    }
    for (const std::string_view feature : features_of(policy)) {
      EXPECT_NE(feature, "low halves");
      EXPECT_NE(feature, "an x32 action");
    }
    expect_legal(policy, random);
    if (HasFatalFailure()) return;
  }
  for (const Arch arch : limits.arches) EXPECT_GT(seen[arch], of_cases(300));
}

TEST(GeneratePolicy, LongPoliciesHave100To600Entries) {
  Random random(325);
  std::size_t most = 0;
  for (int i = 0; i < 50; ++i) {
    const Policy policy = generate_policy(random, PolicyShape::kLong);
    ASSERT_EQ(policy.rule_sets.size(), 1u);
    const auto& rules = policy.rule_sets[0].rules;
    const std::size_t entries = std::max(rules.size(), rules[0].rule.children.size());
    EXPECT_GE(entries, 100u);
    EXPECT_LE(entries, 600u);
    most = std::max(most, entries);
  }
  EXPECT_GT(most, 500u);
}

TEST(DescribePolicy, NamesFeaturesThatSomeCompilersLack) {
  const auto policy = read_policy(
      R"({"version": 1, "name": "p", "arches": ["aarch64"], "default_action": "allow",
          "rule_sets": [{"action": "trap", "rules": {
            "read": {"all_of": [{"args": {"0": {"gt": 1}, "1": {"masked_eq": {"mask": 2, "value": 2}}}}]}}}]})",
      "p");
  ASSERT_TRUE(policy) << policy.error().text();
  EXPECT_EQ(features_of(*policy),
            (std::vector<std::string_view>{"other architectures than x86_64", "several conditions",
                                           "nested rules", "gt", "masked_eq"}));
  Random random(326);
  std::set<std::string_view> seen;
  for (int i = 0; i < 2000; ++i)
    for (const std::string_view feature : features_of(generate_policy(random)))
      seen.insert(feature);
  EXPECT_EQ(seen.size(), policy_features().size());
}

TEST(GeneratePolicy, EachShapeIsReproducibleAndVaried) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kPolicyShapes; ++i) {
    const auto shape = static_cast<PolicyShape>(i);
    names.insert(shape_name(shape));
    Random first(321);
    Random second(321);
    std::set<std::string> texts;
    for (int j = 0; j < 20; ++j) {
      const std::string text = write_policy(generate_policy(first, shape));
      EXPECT_EQ(text, write_policy(generate_policy(second, shape)));
      texts.insert(text);
    }
    EXPECT_GT(texts.size(), 15u) << shape_name(shape);
  }
  EXPECT_EQ(names.size(), kPolicyShapes);
}

TEST(MutatePolicy, MutantsAreLegalAndEveryPartChanges) {
  Random random(322);
  std::map<std::string_view, int> seen;
  constexpr int kRuns = 500;
  for (int i = 0; i < kRuns; ++i) {
    const Policy policy = generate_policy(random);
    Random again = random;
    const Policy mutant = mutate_policy(random, policy);
    const std::string text = write_policy(mutant);
    EXPECT_EQ(text, write_policy(mutate_policy(again, policy)));
    if (i % kShare == 0) expect_legal(mutant, random);
    if (HasFatalFailure()) return;
    seen["same"] += text == write_policy(policy) ? 1 : 0;
    seen["arches"] += mutant.arches != policy.arches ? 1 : 0;
    seen["default"] += mutant.default_action != policy.default_action ? 1 : 0;
    seen["fewer sets"] += mutant.rule_sets.size() < policy.rule_sets.size() ? 1 : 0;
    seen["more sets"] += mutant.rule_sets.size() > policy.rule_sets.size() ? 1 : 0;
    const auto rules = [](const Policy& of) {
      std::size_t out = 0;
      for (const RuleSet& set : of.rule_sets) out += set.rules.size();
      return out;
    };
    seen["fewer rules"] += rules(mutant) < rules(policy) ? 1 : 0;
    seen["more rules"] += rules(mutant) > rules(policy) ? 1 : 0;
    for (int j = 0; j < 30; ++j) {
      const SeccompData data = random_call(random, mutant);
      if (decide(policy, data) == decide(mutant, data)) continue;
      ++seen["other decisions"];
      break;
    }
  }
  EXPECT_LE(seen["same"], kRuns / 100);
  for (const char* what : {"arches", "default", "fewer sets", "more sets", "fewer rules",
                           "more rules", "other decisions"})
    EXPECT_GT(seen[what], kRuns / 50) << what;
}

}  // namespace
}  // namespace secequiv::generate_policy_test
