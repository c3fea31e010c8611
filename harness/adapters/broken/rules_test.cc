// Every planted bug in the rule passes is found by inputs that are derived from rules.
#include "harness/adapters/broken/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/optimize/rules/passes.h"
#include "harness/policy/cases.h"
#include "harness/policy/random_policy.h"

namespace secequiv::broken {
namespace {

TEST(BrokenRulePasses, ThereIsOneForEveryPass) {
  std::set<std::string_view> broken;
  std::set<std::string_view> passes;
  for (const Twin& twin : broken_rule_passes()) {
    broken.insert(twin.pass);
    EXPECT_FALSE(twin.bug.empty());
  }
  for (const detail::RulePassRow& row : detail::rule_pass_rows()) passes.insert(row.name);
  EXPECT_EQ(broken, passes);
}

TEST(BrokenRulePasses, EveryOneIsFound) {
  const auto twins = broken_rule_passes();
  Random random(95);
  std::size_t rules = 0;
  std::vector<std::size_t> wrong(twins.size());
  for (int i = 0; i < 2000; ++i) {
    const Policy policy = random_policy(random);
    std::vector<SeccompData> inputs =
        derive_cases(policy, {.per_syscall = 20, .total = 150}).inputs;
    for (int j = 0; j < 50; ++j) inputs.push_back(random_call(random, policy));
    for (const RuleSet& set : policy.rule_sets) {
      for (const SyscallRule& entry : set.rules) {
        ++rules;
        const Endian endian = arch_info(entry.arch).endian;
        std::vector<bool> expected;
        for (const SeccompData& data : inputs) expected.push_back(entry.rule.matches(data, endian));
        for (std::size_t t = 0; t < twins.size(); ++t) {
          const Rule after = twins[t].run(entry.rule);
          if (after == entry.rule) continue;
          for (std::size_t j = 0; j < inputs.size(); ++j) {
            if (after.matches(inputs[j], endian) == expected[j]) continue;
            ++wrong[t];
            break;
          }
        }
      }
    }
  }
  for (std::size_t t = 0; t < twins.size(); ++t) {
    EXPECT_GT(wrong[t], 0u) << twins[t].pass << ": " << twins[t].bug;
    EXPECT_LT(wrong[t], rules / 4) << "not subtle: " << twins[t].pass << ": " << twins[t].bug;
  }
}

}  // namespace
}  // namespace secequiv::broken
