// Tests that rewritten policies make the same decisions, and that equal meanings look alike.
#include "fuzz/hunt/spelling.h"

#include <gtest/gtest.h>

#include "harness/generate/policy.h"
#include "harness/policy/json.h"

namespace secequiv::hunt::spelling_test {
namespace {

Policy in_one_spelling(const Policy& policy) {
  return with_strict_tests(with_sorted_rules(policy));
}

TEST(Spelling, DecidesAsTheGivenPolicy) {
  std::size_t rewritten = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const Policy policy = generate_policy(random);
    const Policy other = in_one_spelling(policy);
    if (other == policy) continue;
    ++rewritten;
    for (int i = 0; i < 50; ++i) {
      const SeccompData data = random_call(random, policy);
      ASSERT_EQ(decide(policy, data), decide(other, data)) << write_policy(policy);
    }
  }
  EXPECT_GT(rewritten, 300u);
}

std::string respelled(const std::string& rule) {
  const std::string before = R"j({"version": 1, "arches": ["x86_64"], "default_action": "allow",
                                  "rule_sets": [{"action": "errno(1)", "rules": {"read": )j";
  const auto policy = read_policy(before + rule + "}}]}", "a test");
  EXPECT_TRUE(policy) << (policy ? "" : policy.error().text());
  return policy ? write_policy(in_one_spelling(*policy)) : "";
}

TEST(Spelling, EqualMeaningsLookAlike) {
  const std::string one = respelled(
      R"({"any_of": [{"args": {"0": {"gt": 5}}}, {"args": {"0": {"lt": 2}, "1": {"eq": 0}}}]})");
  EXPECT_EQ(one, respelled(R"({"any_of": [{"args": {"0": {"le": 1}, "1": {"eq": 0}}},
                                          {"args": {"0": {"ge": 6}}}]})"));
  EXPECT_NE(one, respelled(R"({"any_of": [{"args": {"0": {"le": 1}, "1": {"eq": 0}}},
                                          {"args": {"0": {"ge": 5}}}]})"));
}

TEST(Spelling, ComparisonsWithTheFirstOrLastNumberStay) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(respelled(R"({"args": {"0": {"ge": 0}}})"), "\"ge\": 0"));
  EXPECT_TRUE(has(respelled(R"({"args": {"0": {"le": 18446744073709551615}}})"), "\"le\""));
  EXPECT_TRUE(has(respelled(R"({"args": {"0": {"le": 4294967295, "bits": 32}}})"), "\"le\""));
  EXPECT_TRUE(has(respelled(R"({"args": {"0": {"le": 4294967295}}})"), "\"lt\": 4294967296"));
}

}  // namespace
}  // namespace secequiv::hunt::spelling_test
