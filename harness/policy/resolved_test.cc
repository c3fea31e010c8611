#include "harness/policy/resolved.h"

#include <gtest/gtest.h>

#include "harness/generate/policy.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::policy_resolved_test {
namespace {

TEST(Resolved, WritesNumbersInPlaceOfNames) {
  const Policy policy = policy_from(R"j({
    "version": 1, "name": "n", "arches": ["amd64", "i386"], "default_action": "errno(EPERM)", "hot": ["read", "i386:4", "x86_64:openat"],
    "variables": {"fd": 7},
    "rule_sets": [
      {"action": "allow", "rules": {
        "read": true,
        "x86_64:openat": {"any_of": [{"args": {"0": {"eq": "$fd"}, "1": "any"}}, {"args": {"2": {"ne": -1}, "ip": "non_negative_fd"}}]},
        "i386:1": {"args": {"0": {"masked_eq": {"mask": "O_CLOEXEC", "value": 0}, "bits": 32}}}}},
      {"action": "trap(2)", "vsyscall": true, "rules": {}}]})j");
  EXPECT_EQ(nlohmann::json::parse(write_resolved(policy)), nlohmann::json::parse(R"j({
    "version": 1, "name": "n", "arches": ["x86_64", "i386"], "default_action": 327681, "bad_arch_action": 2147483648,
    "hot": ["x86_64:0", "i386:3", "i386:4", "x86_64:257"],
    "rule_sets": [
      {"action": 2147418112, "rules": {
        "x86_64:0": true, "i386:3": true,
        "x86_64:257": {"any_of": [{"args": {"0": {"eq": 7}}},
                                  {"args": {"2": {"ne": 18446744073709551615}, "ip": {"non_negative_fd": true}}}]},
        "i386:1": {"args": {"0": {"masked_eq": {"mask": 524288, "value": 0}, "bits": 32}}}}},
      {"action": 196610, "vsyscall": true, "rules": {}}]})j"));
}

TEST(Resolved, RandomPoliciesKeepTheirDecisions) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const Policy policy = random_policy(random);
    const auto back = read_policy(write_resolved(policy), "resolved");
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_TRUE(back->variables.empty());
    for (int j = 0; j < 20; ++j) {
      const SeccompData data = random_call(random, policy);
      ASSERT_EQ(decide(*back, data), decide(policy, data)) << write_policy(policy);
    }
    EXPECT_EQ(write_resolved(*back), write_resolved(policy));
  }
}

}  // namespace
}  // namespace secequiv::policy_resolved_test
