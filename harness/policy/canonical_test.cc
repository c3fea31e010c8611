#include "harness/policy/canonical.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/base/random.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/policy/json.h"

namespace secequiv {
namespace {

Rule* any_rule(Random& random, Policy& policy) {
  if (policy.rule_sets.empty()) return nullptr;
  RuleSet& set = policy.rule_sets[random.below(policy.rule_sets.size())];
  if (set.rules.empty()) return nullptr;
  Rule* at = &set.rules[random.below(set.rules.size())].rule;
  while (!at->children.empty() && !random.one_in(4))
    at = &at->children[random.below(at->children.size())];
  return at;
}

// Something is wrong with it afterwards, or said in another way than JSON does, or not.
void spoil(Random& random, Policy& policy) {
  Rule* const rule = any_rule(random, policy);
  switch (random.below(rule == nullptr ? 4 : 9)) {
    case 0:
      policy.x32_action = 0;
      return;
    case 1: {
      const Arch arch = random.pick(all_arches()).arch;
      policy.arches.insert(policy.arches.begin(), arch);
      return;
    }
    case 2: {
      static constexpr std::array<const char*, 8> kHot = {
          "read", "nosuch", "7", "x86_64:read", "i386:read", "arm:7", "4294967296", "mips:"};
      policy.hot.emplace_back(random.pick(kHot));
      return;
    }
    case 3:
      // Not sorted, but each once.
      policy.variables.emplace_back(fmt::format("v{}", 9 - policy.variables.size()), random.word());
      return;
    case 4:
      rule->kind = static_cast<Rule::Kind>(random.below(4));
      return;
    case 5:
      rule->children.clear();
      return;
    case 6:
      if (!policy.arches.empty()) policy.arches.erase(policy.arches.begin());
      return;
    default: {
      Matcher& m = rule->fields[random.below(rule->fields.size())];
      m.op = static_cast<Matcher::Op>(random.below(10));
      m.low_half = random.one_in(2);
      m.value = random.next() >> random.below(64);
      m.mask = random.next() >> random.below(64);
      if (random.one_in(3))
        m.variable = policy.variables.empty() || random.one_in(4)
                         ? "nosuch"
                         : random.pick(policy.variables).first;
    }
  }
}

// It has rules for an architecture that it does not list.
bool is_foreign(const Policy& policy) {
  for (const RuleSet& set : policy.rule_sets)
    for (const SyscallRule& entry : set.rules)
      if (!policy.has_arch(entry.arch)) return true;
  return false;
}

TEST(Canonical, IsWhatReadingTheTextGives) {
  Random random(51);
  int said = 0;
  int changed = 0;
  int refused = 0;
  for (int i = 0; i < of_cases(10'000); ++i) {
    Policy policy =
        generate_policy(random, random.one_in(2) ? PolicyShape::kPlain : PolicyShape::kArches);
    for (std::size_t n = random.below(4); n > 0; --n) spoil(random, policy);
    const std::string text = write_policy(policy);
    const auto back = read_policy(text, "policy");
    const auto direct = canonical(policy);
    if (is_foreign(policy)) {
      ASSERT_FALSE(direct) << text;
      continue;
    }
    ASSERT_EQ(direct.has_value(), static_cast<bool>(back))
        << (back ? "" : back.error().text()) << "\n"
        << text;
    ++(back ? said : refused);
    if (!back) continue;
    ASSERT_TRUE(*direct == *back) << text << write_policy(*direct);
    changed += *direct == policy ? 0 : 1;
  }
  EXPECT_GT(said, of_cases(3000));
  EXPECT_GT(changed, of_cases(300));
  EXPECT_GT(refused, of_cases(2000));
}

TEST(Canonical, NothingForWhatOneTextSaysOnce) {
  Policy policy;
  policy.arches = {Arch::kX86_64};
  policy.rule_sets.push_back({0, false, {{Arch::kX86_64, 1, {}}, {Arch::kX86_64, 0, {}}}});
  const auto sorted = canonical(policy);
  ASSERT_TRUE(sorted);
  EXPECT_EQ(sorted->rule_sets[0].rules[0].nr, 0u);
  EXPECT_FALSE(canonical([&] {
    Policy twice = policy;
    twice.rule_sets[0].rules[0].nr = 0;
    return twice;
  }()));
  EXPECT_FALSE(canonical([&] {
    Policy twice = policy;
    twice.variables = {{"a", 1}, {"a", 2}};
    return twice;
  }()));
  EXPECT_FALSE(canonical(Policy{}));
}

// Whatever it says can be read.
TEST(Canonical, RulesWithinEachOther) {
  Policy policy;
  policy.arches = {Arch::kX86_64};
  policy.rule_sets.push_back({0, false, {{Arch::kX86_64, 0, {}}}});
  std::size_t accepted = 0;
  for (std::size_t depth = 0; depth < 600; ++depth) {
    if (canonical(policy)) {
      ++accepted;
      EXPECT_EQ(depth + 1, accepted);
      if (depth % 50 == 0 || depth > 390) {
        EXPECT_TRUE(read_policy(write_policy(policy), "policy")) << depth;
      }
    }
    Rule outer;
    outer.kind = Rule::Kind::kAllOf;
    outer.children.push_back(std::move(policy.rule_sets[0].rules[0].rule));
    policy.rule_sets[0].rules[0].rule = std::move(outer);
  }
  EXPECT_GT(accepted, 300u);
  EXPECT_LT(accepted, 600u);
}

}  // namespace
}  // namespace secequiv
