// Tests that a region names its rule, as an example if other rules decide some of its inputs.
#include "analyze/region_rules.h"

#include <gtest/gtest.h>

#include "harness/policy/compile.h"

namespace secequiv::analyze_region_rules_test {
namespace {

PositionRef line(std::size_t number) {
  return {std::make_shared<const RulePosition>(RulePosition{"p.json", number})};
}

Rule arg0(Matcher::Op op, std::uint64_t value, PositionRef position = {}) {
  Rule out;
  out.kind = Rule::Kind::kArgs;
  out.fields[0].op = op;
  out.fields[0].value = value;
  out.position = std::move(position);
  return out;
}

Rule any_of(std::vector<Rule> children) {
  Rule out;
  out.kind = Rule::Kind::kAnyOf;
  out.children = std::move(children);
  return out;
}

Policy policy_of(std::vector<SyscallRule> rules) {
  Policy out;
  out.arches = {Arch::kX86_64};
  out.default_action = SECCOMP_RET_KILL_PROCESS;
  out.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
  out.default_position = line(1);
  out.rule_sets = {{SECCOMP_RET_ALLOW, false, std::move(rules)}};
  return out;
}

WordSet values(std::uint32_t word, std::vector<WordSet::Interval> intervals) {
  WordSet out;
  out.word = word;
  out.example = intervals.front().first;
  out.intervals = std::move(intervals);
  return out;
}

const WordSet kNative = values(kArchWord, {{AUDIT_ARCH_X86_64, AUDIT_ARCH_X86_64}});
const WordSet kHigh0 = values(half_word(0, true, Endian::kLittle), {{0, 0}});

WordSet low0(std::vector<WordSet::Interval> intervals) {
  return values(half_word(0, false, Endian::kLittle), std::move(intervals));
}

std::string shown(const Policy& policy, std::vector<WordSet> words) {
  const Program program = compile(policy);
  std::ranges::sort(words, {}, &WordSet::word);
  return RegionRules(policy, program, {}).of({std::move(words), ""}).shown();
}

TEST(RegionRules, ARuleIsAnExampleIfOtherInputsMatchAnotherAlternative) {
  const Policy policy =
      policy_of({{Arch::kX86_64, 41,
                  any_of({arg0(Matcher::Op::kEq, 1, line(5)), arg0(Matcher::Op::kEq, 2, line(6)),
                          arg0(Matcher::Op::kLe, 2, line(7))})}});
  const WordSet socket = values(kNrWord, {{41, 41}});
  EXPECT_EQ(shown(policy, {kNative, socket, kHigh0, low0({{1, 1}})}), "p.json:5");
  EXPECT_EQ(shown(policy, {kNative, socket, kHigh0, low0({{2, 2}})}), "p.json:6");
  EXPECT_EQ(shown(policy, {kNative, socket, kHigh0, low0({{1, 2}})}), "for example p.json:5");
  EXPECT_EQ(shown(policy, {kNative, socket, kHigh0, low0({{3, 9}})}), "p.json:1");
  EXPECT_EQ(shown(policy, {kNative, socket, kHigh0, low0({{2, 3}})}), "for example p.json:6");
}

TEST(RegionRules, ARuleIsAnExampleIfOtherCallsHaveAnotherLine) {
  Rule all;
  const Policy policy = policy_of({{Arch::kX86_64, 0, positioned(all, line(5))},
                                   {Arch::kX86_64, 1, positioned(all, line(5))},
                                   {Arch::kX86_64, 2, positioned(all, line(6))}});
  EXPECT_EQ(shown(policy, {kNative, values(kNrWord, {{0, 1}})}), "p.json:5") << "one line for both";
  EXPECT_EQ(shown(policy, {kNative, values(kNrWord, {{0, 2}})}), "for example p.json:5");
  EXPECT_EQ(shown(policy, {kNative, values(kNrWord, {{3, 500}})}), "p.json:1");
  EXPECT_EQ(shown(policy, {values(kNrWord, {{3, 500}})}),
            "for example bad-arch action: the policy does not name this architecture");
}

TEST(RegionRules, WithoutPositionsBranchesHaveNumbers) {
  const Policy policy = policy_of(
      {{Arch::kX86_64, 41, any_of({arg0(Matcher::Op::kEq, 1), arg0(Matcher::Op::kEq, 2)})}});
  const WordSet socket = values(kNrWord, {{41, 41}});
  EXPECT_EQ(shown(policy, {kNative, socket, kHigh0, low0({{1, 1}})}),
            "rule set 1 of 1 (ALLOW), socket on x86_64, branch 1 of 2");
  EXPECT_TRUE(
      shown(policy, {kNative, socket, kHigh0, low0({{1, 2}})}).starts_with("for example rule set"));
}

}  // namespace
}  // namespace secequiv::analyze_region_rules_test
