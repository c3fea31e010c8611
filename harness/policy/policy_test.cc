#include "harness/policy/policy.h"

#include <gtest/gtest.h>

#include "harness/generate/policy.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::policy_policy_test {
namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kDenied = SECCOMP_RET_ERRNO | 1;
constexpr std::uint64_t kBit63 = std::uint64_t{1} << 63;

Matcher matcher(Matcher::Op op, std::uint64_t value, std::uint64_t mask = 0) {
  return Matcher{op, value, mask, false, {}};
}

// The table has each operator with its results written out.
TEST(Matcher, EveryOpHasTheListedResults) {
  using Op = Matcher::Op;
  const struct {
    Matcher m;
    std::vector<std::uint64_t> yes;
    std::vector<std::uint64_t> no;
  } cases[] = {
      {matcher(Op::kAny, 7), {0, 7, ~0ull}, {}},
      {matcher(Op::kEq, 0x100000007),
       {0x100000007},
       {7, 0x100000000, 0x200000007, 0x100000006, 0x100000008}},
      {matcher(Op::kNe, 0x100000007), {7, 0x100000000, 0x200000007, 0x100000006}, {0x100000007}},
      {matcher(Op::kGt, 0x1ffffffff),
       {0x200000000, ~0ull},
       {0x1ffffffff, 0x1fffffffe, 0xffffffff, 0}},
      {matcher(Op::kGe, 0x200000000),
       {0x200000000, 0x200000001, kBit63},
       {0x1ffffffff, 0xffffffff, 0}},
      {matcher(Op::kLt, 0x200000000),
       {0x1ffffffff, 0xffffffff, 0},
       {0x200000000, 0x200000001, kBit63}},
      {matcher(Op::kLe, 0x1ffffffff), {0x1ffffffff, 0x1fffffffe, 0}, {0x200000000, ~0ull}},
      {matcher(Op::kGt, ~0ull), {}, {0, ~0ull}},
      {matcher(Op::kLt, 0), {}, {0, ~0ull}},
      {matcher(Op::kGe, 0), {0, ~0ull}, {}},
      {matcher(Op::kLe, ~0ull), {0, ~0ull}, {}},
      {matcher(Op::kMaskedEq, 0x100000002, 0x300000003),
       {0x100000002, 0xfffffffdfffffffe & ~0x200000001ull},
       {0x100000003, 0x300000002, 2, 0}},
      {matcher(Op::kMaskedEq, 0, 0), {0, ~0ull}, {}},
      {matcher(Op::kMaskedEq, 4, 3), {}, {0, 4, 7, ~0ull}},  // the mask excludes a bit of the value
      {matcher(Op::kBitsAllowlist, 0, 0x100000003),
       {0, 1, 2, 3, 0x100000000, 0x100000003},
       {4, 0x200000000, kBit63, ~0ull}},
      {matcher(Op::kBitsAllowlist, 0, ~0ull), {0, ~0ull}, {}},
      {matcher(Op::kBitsAllowlist, 0, 0), {0}, {1, kBit63}},
      {matcher(Op::kNonNegativeFd, 0),
       {0, 1, 0x7fffffff},
       {0x80000000, 0xffffffff, 0x100000000, 0x17fffffff, 0x100000001, kBit63, 0xffffffffffffffff,
        0xffffffff80000000}},
  };
  for (const auto& c : cases) {
    for (const std::uint64_t v : c.yes)
      EXPECT_TRUE(c.m.matches(v)) << "op " << int(c.m.op) << " " << std::hex << v;
    for (const std::uint64_t v : c.no)
      EXPECT_FALSE(c.m.matches(v)) << "op " << int(c.m.op) << " " << std::hex << v;
  }
}

// Only the low half counts.
TEST(Matcher, LowHalfMatchersIgnoreTheHighHalf) {
  using Op = Matcher::Op;
  const struct {
    Op op;
    std::uint64_t value;
    std::uint64_t mask;
    std::vector<std::uint64_t> yes;
    std::vector<std::uint64_t> no;
  } cases[] = {
      {Op::kEq, 7, 0, {7, 0x100000007, 0xffffffff00000007}, {8, 0x700000008}},
      {Op::kNe, 7, 0, {8, 0x700000008}, {7, 0x100000007}},
      {Op::kGt, 7, 0, {8, 0x100000008}, {7, 0x100000007, 0xffffffff00000000}},
      {Op::kGe, 7, 0, {7, 0x100000007}, {6, 0xffffffff00000006}},
      {Op::kLt, 7, 0, {6, 0xffffffff00000006}, {7, 0x100000007}},
      {Op::kLe, 7, 0, {7, 0xffffffff00000007}, {8, 0x100000008}},
      {Op::kMaskedEq, 1, 3, {1, 5, 0x300000001}, {2, 3, 0x100000000}},
      {Op::kBitsAllowlist, 0, 3, {0, 3, 0xffffffff00000003}, {4, 0x100000004}},
      {Op::kNonNegativeFd,
       0,
       0,
       {0, 0x7fffffff, 0xffffffff00000000, 0xffffffff7fffffff},
       {0x80000000, ~0ull}},
  };
  for (const auto& c : cases) {
    const Matcher m{c.op, c.value, c.mask, true, {}};
    for (const std::uint64_t v : c.yes)
      EXPECT_TRUE(m.matches(v)) << "op " << int(m.op) << " " << std::hex << v;
    for (const std::uint64_t v : c.no)
      EXPECT_FALSE(m.matches(v)) << "op " << int(m.op) << " " << std::hex << v;
  }
}

// Tries each comparison around each boundary of both halves. The expected result is computed from
// the halves.
TEST(Matcher, ComparisonsAreCorrectAtBoundariesOfBothHalves) {
  std::vector<std::uint64_t> points;
  for (const std::uint64_t k :
       {0ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull, 0x100000000ull, 0x1ffffffffull,
        0x7fffffff00000000ull, 0x7fffffffffffffffull, 0x8000000000000000ull, 0xffffffff00000000ull,
        0xffffffffffffffffull})
    for (const std::uint64_t v : {k - 1, k, k + 1}) points.push_back(v);
  const auto halves = [](std::uint64_t v) { return std::pair(v / 0x100000000, v % 0x100000000); };
  for (const std::uint64_t k : points) {
    for (const std::uint64_t v : points) {
      using Op = Matcher::Op;
      EXPECT_EQ(matcher(Op::kEq, k).matches(v), halves(v) == halves(k));
      EXPECT_EQ(matcher(Op::kNe, k).matches(v), halves(v) != halves(k));
      EXPECT_EQ(matcher(Op::kGt, k).matches(v), halves(v) > halves(k));
      EXPECT_EQ(matcher(Op::kGe, k).matches(v), halves(v) >= halves(k));
      EXPECT_EQ(matcher(Op::kLt, k).matches(v), halves(v) < halves(k));
      EXPECT_EQ(matcher(Op::kLe, k).matches(v), halves(v) <= halves(k));
      bool allowed = true;
      bool equal = true;
      for (int bit = 0; bit < 64; ++bit) {
        const bool in_v = (v >> bit & 1) != 0;
        const bool in_k = (k >> bit & 1) != 0;
        allowed = allowed && (!in_v || in_k);
        equal = equal && (in_v && in_k) == (bit == 63);
      }
      EXPECT_EQ(matcher(Op::kBitsAllowlist, 0, k).matches(v), allowed);
      EXPECT_EQ(matcher(Op::kMaskedEq, kBit63, k).matches(v), equal);
      EXPECT_EQ(matcher(Op::kNonNegativeFd, k).matches(v),
                halves(v).first == 0 && halves(v).second < 0x80000000);
    }
  }
}

TEST(Rule, ArgsMustAllMatchIncludingTheInstructionPointer) {
  const Policy policy = x86_64_policy(
      R"j({"action": "allow", "rules": {"read": {"args": {"0": {"eq": 3}, "5": {"gt": 9}, "ip": {"eq": "0x401000"}}}}})j");
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {3, 0, 0, 0, 0, 10}, 0x401000)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {4, 0, 0, 0, 0, 10}, 0x401000)), kDenied);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {3, 0, 0, 0, 0, 9}, 0x401000)), kDenied);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {3, 0, 0, 0, 0, 10}, 0x401001)), kDenied);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {3, 0, 0, 0, 0, 10}, 0x100401000)), kDenied);
}

TEST(Rule, AnyOfAndAllOfCombineRules) {
  const Policy policy = x86_64_policy(R"j({"action": "allow", "rules": {
    "read": {"any_of": [{"args": {"0": {"eq": 1}}}, {"all_of": [{"args": {"0": {"gt": 5}}}, {"args": {"0": {"lt": 9}}}]}]},
    "write": {"all_of": [true, {"any_of": [{"args": {"0": {"eq": 2}}}, {"args": {"1": {"eq": 2}}}]}]},
    "close": {"args": {}}}})j");
  for (std::uint64_t v = 0; v < 12; ++v)
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0, {v})),
              v == 1 || (v > 5 && v < 9) ? kAllow : kDenied)
        << v;
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 1, {2, 0})), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 1, {0, 2})), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 1, {0, 0})), kDenied);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 3, {9, 9, 9, 9, 9, 9})), kAllow);
}

TEST(Decide, FirstMatchingRuleSetDecides) {
  const Policy policy =
      x86_64_policy(R"j({"action": "errno(2)", "rules": {"read": {"args": {"0": {"eq": 1}}}}},
    {"action": "errno(3)", "rules": {"read": {"args": {"0": {"le": 2}}}, "write": true}},
    {"action": "errno(4)", "rules": {"read": true, "write": true}})j");
  const auto read = [&](std::uint64_t fd) { return decide(policy, call(Arch::kX86_64, 0, {fd})); };
  EXPECT_EQ(read(1), SECCOMP_RET_ERRNO | 2) << "the first set that matches decides";
  EXPECT_EQ(read(2), SECCOMP_RET_ERRNO | 3) << "if a rule does not match, the next set decides";
  EXPECT_EQ(read(3), SECCOMP_RET_ERRNO | 4);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 1)), SECCOMP_RET_ERRNO | 3);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 2)), kDenied);
}

TEST(Decide, UnlistedArchitectureGetsTheBadArchAction) {
  const Policy policy = policy_from(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "bad_arch_action": "trap(7)",
    "rule_sets": [{"action": "allow", "rules": {"read": true}}]})j");
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 1)), kDenied);
  EXPECT_EQ(decide(policy, call(Arch::kI386, 0)), SECCOMP_RET_TRAP | 7);
  SeccompData unknown;
  EXPECT_EQ(decide(policy, unknown), SECCOMP_RET_TRAP | 7);
}

TEST(Decide, RulesApplyOnlyToTheirArchitecture) {
  const Policy policy = policy_from(
      R"j({"version": 1, "arches": ["x86_64", "i386", "s390x"], "default_action": "errno(1)",
    "rule_sets": [{"action": "allow", "rules": {"x86_64:read": true, "i386:write": {"args": {"0": {"eq": 1}}},
                                                "s390x:write": {"args": {"0": {"eq": "0x100000002"}}}}}]})j");
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kI386, 0)), kDenied) << "number 0 is allowed on x86_64 only";
  EXPECT_EQ(decide(policy, call(Arch::kI386, 4, {1})), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 4, {1})), kDenied);
  EXPECT_EQ(decide(policy, call(Arch::kS390x, 4, {1})), kDenied);
  EXPECT_EQ(decide(policy, call(Arch::kS390x, 4, {0x100000002})), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kS390x, 4, {0x200000001})), kDenied)
      << "the halves are swapped";
}

TEST(Decide, PlainNamesApplyToEveryArchitecture) {
  const Policy policy =
      policy_from(R"j({"version": 1, "arches": ["x86_64", "aarch64"], "default_action": "errno(1)",
    "rule_sets": [{"action": "allow", "rules": {"read": true, "open": true}}]})j");
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kAarch64, 63)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 2)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kAarch64, 2)), kDenied)
      << "aarch64 has no open; 2 is another call there";
}

TEST(Decide, VsyscallSetsNeedBit63OfTheInstructionPointer) {
  const Policy policy =
      x86_64_policy(R"j({"action": "trap", "vsyscall": true, "rules": {"time": true}},
    {"action": "allow", "rules": {"time": true}})j");
  const std::uint32_t time = *syscall_nr(Arch::kX86_64, "time");
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, time, {}, 0xffffffffff600400)), SECCOMP_RET_TRAP);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, time, {}, kBit63)), SECCOMP_RET_TRAP);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, time, {}, kBit63 - 1)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, time, {}, 0x80000000)), kAllow)
      << "bit 31 of the low half is another bit";
}

TEST(Policy, ARangeOfNumbersHasADefaultActionOfItsOwn) {
  const Policy policy =
      policy_from(R"j({"version": 1, "arches": ["x86_64", "i386"], "default_action": "errno(1)",
    "x32_action": "trap(32)", "default_ranges": [
      {"arch": "x86_64", "first": 2, "last": 5, "action": "log"},
      {"arch": "x86_64", "first": 1000, "action": "kill_process"}],
    "rule_sets": [{"action": "allow", "rules": {"x86_64:3": {"args": {"0": {"eq": 7}}}, "x86_64:0x80000000": true}}]})j");
  SeccompData seven = call(Arch::kX86_64, 3);
  seven.set_field(0, 7, Endian::kLittle);
  EXPECT_EQ(decide(policy, seven), kAllow) << "a rule precedes the range";
  for (const std::uint32_t nr : {2u, 3u, 5u})
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, nr)), SECCOMP_RET_LOG);
  for (const std::uint32_t nr : {1u, 6u, 999u})
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, nr)), kDenied);
  for (const std::uint32_t nr : {1000u, 0x3fffffffu, 0x80000001u, 0xbfffffffu, 0xffffffffu})
    EXPECT_EQ(decide(policy, call(Arch::kX86_64, nr)), SECCOMP_RET_KILL_PROCESS) << nr;
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, 0x80000000)), kAllow);
  EXPECT_EQ(decide(policy, call(Arch::kX86_64, kX32Bit)), SECCOMP_RET_TRAP | 32)
      << "the x32 action precedes the range";
  EXPECT_EQ(decide(policy, call(Arch::kI386, 1000)), kDenied) << "a range of x86_64 alone";
  const auto ranges = policy.default_ranges_of(AUDIT_ARCH_X86_64);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left;
  for (const DefaultRange& range : ranges) left.emplace_back(range.first, range.last);
  EXPECT_EQ(left,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                {2, 5}, {1000, 0x3fffffff}, {0x80000000, 0xbfffffff}, {0xffffffff, 0xffffffff}}))
      << "without the numbers of x32";
  EXPECT_TRUE(policy.default_ranges_of(AUDIT_ARCH_I386).empty());
}

TEST(Decide, X32NumbersGetTheX32Action) {
  const std::string rest =
      R"j("default_action": "errno(1)", "rule_sets": [{"action": "allow", "rules": )j";
  const Policy with = policy_from(
      R"j({"version": 1, "arches": ["x86_64", "i386"], "x32_action": "trap(32)", )j" + rest +
      R"j({"x86_64:read": true, "x86_64:0x40000001": true, "x86_64:0xffffffff": true, "i386:0x40000001": true}}]})j");
  EXPECT_EQ(decide(with, call(Arch::kX86_64, 0)), kAllow);
  EXPECT_EQ(decide(with, call(Arch::kX86_64, kX32Bit)), SECCOMP_RET_TRAP | 32);
  EXPECT_EQ(decide(with, call(Arch::kX86_64, kX32Bit + 1)), SECCOMP_RET_TRAP | 32)
      << "the x32 action precedes every rule";
  EXPECT_EQ(decide(with, call(Arch::kX86_64, 0xfffffffe)), SECCOMP_RET_TRAP | 32);
  EXPECT_EQ(decide(with, call(Arch::kX86_64, 0xffffffff)), kAllow) << "-1 is not an x32 call";
  EXPECT_EQ(decide(with, call(Arch::kI386, kX32Bit + 1)), kAllow)
      << "only under x86_64's audit value";
  EXPECT_EQ(decide(with, call(Arch::kI386, kX32Bit + 2)), kDenied);
  const Policy without = policy_from(R"j({"version": 1, "arches": ["x86_64"], )j" + rest +
                                     R"j({"0x40000001": true}}]})j");
  EXPECT_EQ(decide(without, call(Arch::kX86_64, kX32Bit + 1)), kAllow);
  EXPECT_EQ(decide(without, call(Arch::kX86_64, kX32Bit + 2)), kDenied)
      << "x32 numbers have no special meaning";
  const Policy listed = policy_from(R"j({"version": 1, "arches": ["x86_64", "x32"], )j" + rest +
                                    R"j({"x32:read": true}}]})j");
  EXPECT_EQ(decide(listed, call(Arch::kX32, kX32Bit)), kAllow);
  EXPECT_EQ(decide(listed, call(Arch::kX86_64, 0)), kDenied);
}

TEST(Policy, AuditValuesAreDistinct) {
  Policy policy;
  policy.arches = {Arch::kX32, Arch::kI386, Arch::kX86_64};
  EXPECT_EQ(policy.audit_values(),
            (std::vector<std::uint32_t>{AUDIT_ARCH_X86_64, AUDIT_ARCH_I386}));
  EXPECT_TRUE(policy.has_arch(Arch::kX86_64));
  EXPECT_FALSE(policy.has_arch(Arch::kArm));
}

// Other tests use this generator, so it must cover everything that a policy can contain.
TEST(RandomPolicy, CoversEverythingThatAPolicyCanContain) {
  Random random(40);
  std::array<std::size_t, 10> ops{};
  std::array<std::size_t, 4> kinds{};
  std::array<std::size_t, 9> arches{};
  std::size_t vsyscall = 0;
  std::size_t x32 = 0;
  std::size_t ranges = 0;
  std::size_t ip = 0;
  std::size_t variables = 0;
  std::size_t low_half = 0;
  const std::function<void(const Rule&)> visit = [&](const Rule& rule) {
    ++kinds[static_cast<std::size_t>(rule.kind)];
    EXPECT_EQ(rule.children.empty(),
              rule.kind != Rule::Kind::kAnyOf && rule.kind != Rule::Kind::kAllOf);
    for (const Rule& child : rule.children) visit(child);
    for (const Matcher& m : rule.fields) {
      ++ops[static_cast<std::size_t>(m.op)];
      variables += m.variable.empty() ? 0 : 1;
      low_half += m.low_half ? 1 : 0;
    }
    ip += rule.fields[kIpField].op != Matcher::Op::kAny ? 1 : 0;
  };
  for (int i = 0; i < 500; ++i) {
    const Policy policy = random_policy(random);
    for (const Arch arch : policy.arches) ++arches[static_cast<std::size_t>(arch)];
    x32 += policy.x32_action ? 1 : 0;
    ranges += policy.default_ranges.empty() ? 0 : 1;
    for (const RuleSet& set : policy.rule_sets) {
      vsyscall += set.vsyscall ? 1 : 0;
      for (const SyscallRule& entry : set.rules) {
        EXPECT_TRUE(policy.has_arch(entry.arch));
        EXPECT_EQ(set.find(entry.arch, entry.nr), &entry.rule) << "sorted, one entry per call";
        visit(entry.rule);
      }
    }
  }
  for (const std::size_t count : ops) EXPECT_GT(count, 50u);
  for (const std::size_t count : kinds) EXPECT_GT(count, 50u);
  for (const std::size_t count : arches) EXPECT_GT(count, 20u);
  for (const std::size_t count : {vsyscall, x32, ranges, ip, variables, low_half})
    EXPECT_GT(count, 20u);
  Random same(41);
  Random again(41);
  const Policy policy = random_policy(same);
  EXPECT_EQ(write_policy(policy), write_policy(random_policy(again)));
  EXPECT_EQ(random_call(same, policy), random_call(again, policy));
}

}  // namespace
}  // namespace secequiv::policy_policy_test
