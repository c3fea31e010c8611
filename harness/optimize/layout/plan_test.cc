// Tests the text of plans for given policies. Tests that their programs decide as the policy does,
// whichever layout passes ran.
#include "harness/optimize/layout/plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/inputs/cases.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::layout_plan_test {
namespace {

Plan apply(std::string_view pass, const Plan& plan) {
  const Pass* found = find_pass(pass);
  if (found != nullptr) return std::get<LayoutPass>(found->run)(plan);
  ADD_FAILURE() << "no pass " << pass;
  return {};
}

Plan standard(const Policy& policy, std::span<const SyscallCount> profile = {}) {
  return lay_out(policy, standard_passes(), profile);
}

std::string shortened(const Plan& plan) {
  std::vector<const Pass*> passes;
  for (const char* name :
       {"thread-conditional-jumps", "thread-jumps", "remove-null-jumps", "remove-unreachable"})
    passes.push_back(find_pass(name));
  return asm_text(optimize(render(plan), passes).program);
}

std::string text_of(std::string_view program) { return asm_text(assemble(program)); }

// The plan's program must decide as the policy does.
void expect_decides(const Policy& policy, const Plan& plan, std::size_t random_inputs = 0) {
  const Program program = render(plan);
  const auto refusal = refusal_of(program, LengthRule::kUnlimited);
  ASSERT_FALSE(refusal) << describe(*refusal, program);
  auto inputs = derive_cases(policy, {.per_syscall = 20, .total = 20000}).inputs;
  Random random(70);
  for (std::size_t i = 0; i < random_inputs; ++i) inputs.push_back(random_call(random, policy));
  for (const SeccompData& data : inputs)
    ASSERT_EQ(run(program, data), decide(policy, data)) << describe(data) << "\n"
                                                        << plan_text(plan) << write_policy(policy);
}

// Checks the plan before all layout passes, after each one, after all of them, and after the
// layouts of other compilers.
void expect_decides_however(const Policy& policy) {
  const Plan plan = make_plan(policy);
  expect_decides(policy, plan);
  for (const Pass& pass : layout_passes()) expect_decides(policy, apply(pass.name, plan));
  expect_decides(policy, standard(policy));
  expect_decides(policy, apply("code-apart", standard(policy)));
  expect_decides(policy, apply("pinned-bounds", apply("single-tree", standard(policy))));
}

// Returns a policy with these calls in one rule set.
Policy policy_with(Arch arch, std::span<const std::uint32_t> numbers, bool constant) {
  Policy out;
  out.name = "test";
  out.arches = {arch};
  out.default_action = SECCOMP_RET_ERRNO + 1;
  out.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
  RuleSet set{SECCOMP_RET_ALLOW, false, {}};
  for (const std::uint32_t nr : numbers) {
    Rule rule;
    if (!constant) {
      rule.kind = Rule::Kind::kArgs;
      rule.fields[0] = {Matcher::Op::kEq, nr, 0, false, ""};
    }
    set.rules.push_back({arch, nr, rule});
  }
  out.rule_sets = {set};
  return out;
}

TEST(Plan, ListsCallsInThePolicysOrder) {
  const Policy policy = x86_64_policy(
      R"j({"action": "allow", "rules": {"write": true, "read": {"args": {"0": {"eq": 1}}}}},
          {"action": "log", "rules": {"read": true, "open": true, "write": true}})j");
  const Plan plan = make_plan(policy);
  EXPECT_EQ(plan_text(plan), "list: read ?0, write ALLOW, open LOG\n");
  ASSERT_EQ(plan.arches.size(), 1u);
  const ArchPlan& arch = plan.arches[0];
  EXPECT_EQ(arch.codes[0].size(), 2u);
  EXPECT_EQ(arch.codes[1].size(), 1u) << "no clause follows one that always applies";
  EXPECT_FALSE(kernel_answers(plan, arch, arch.stages[0].entries[0]));
  EXPECT_TRUE(kernel_answers(plan, arch, arch.stages[0].entries[1]));
  EXPECT_FALSE(kernel_answers(plan, arch, arch.stages[0].entries[2]))
      << "the action is constant, but not ALLOW";
  expect_decides_however(policy);
}

TEST(Plan, DropsTrailingClausesWithTheDefaultAction) {
  const Policy policy = x86_64_policy(
      R"j({"action": "errno(1)", "rules": {"read": true, "write": {"args": {"0": {"eq": 1}}}}},
          {"action": "allow", "rules": {"write": {"args": {"1": {"eq": 1}}}}},
          {"action": "errno(1)", "rules": {"write": {"args": {"2": {"eq": 1}}}}})j");
  const Plan plan = make_plan(policy);
  EXPECT_EQ(plan_text(plan), "list: read ERRNO(1 EPERM), write ?1\n");
  EXPECT_TRUE(plan.arches[0].codes[0].empty());
  EXPECT_EQ(plan.arches[0].codes[1].size(), 2u) << "the first clause precedes another action";
  EXPECT_EQ(plan_text(apply("drop-default-calls", plan)), "list: write ?1\n");
  expect_decides_however(policy);
}

TEST(Plan, KeepsVsyscallClauses) {
  const Policy policy = policy_from(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "rule_sets": [
          {"action": "trace(7)", "vsyscall": true, "rules": {"time": true, "getcpu": {"args": {"0": {"eq": 1, "bits": 32}}}}},
          {"action": "allow", "rules": {"time": true, "getcpu": true}}]})j");
  const Plan plan = make_plan(policy);
  EXPECT_EQ(plan_text(plan), "list: time ?0, getcpu ?1\n");
  EXPECT_EQ(constant_action(plan, plan.arches[0].codes[0]), std::nullopt)
      << "matches all, but only in the vsyscall page";
  EXPECT_EQ(
      shortened(plan),
      text_of("ld [4]\njeq #0xc000003e, n, bad\nn: ld [0]\njeq #201, time, b\ntime: ld "
              "[12]\njset #0x80000000, trace, allow\nb: jeq #309, cpu, errno\ncpu: ld "
              "[12]\njset #0x80000000, c, allow\nc: ld [16]\njeq #1, trace, allow\nerrno: ret "
              "#0x50001\ntrace: ret #0x7ff00007\nallow: ret #0x7fff0000\nbad: ret "
              "#0x80000000"));
  expect_decides_however(policy);
  for (const std::uint64_t ip : {std::uint64_t{1} << 63, ~std::uint64_t{0}, ~std::uint64_t{0} >> 1})
    EXPECT_EQ(run(render(standard(policy)), call(Arch::kX86_64, 201, {}, ip)),
              ip >> 63 != 0 ? SECCOMP_RET_TRACE + 7 : SECCOMP_RET_ALLOW);
}

TEST(Plan, X32ActionCoversRangesOfNumbers) {
  const Policy policy = policy_from(
      R"j({"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "x32_action": "log",
          "rule_sets": [{"action": "allow", "rules": {"read": true, "1073741825": true, "0xffffffff": true, "0xc0000000": true}}]})j");
  const Plan plan = make_plan(policy);
  EXPECT_EQ(plan_text(plan),
            "list: read ALLOW, 0xffffffff ALLOW, x32:read..0x7fffffff LOG, "
            "0xc0000000..0xfffffffe LOG\n");
  for (const Plan& one : {plan, standard(policy), apply("single-tree", plan)}) {
    const Program program = render(one);
    const std::pair<std::uint32_t, std::uint32_t> kExpected[] = {
        {0, SECCOMP_RET_ALLOW},
        {0x3fffffff, SECCOMP_RET_ERRNO + 1},
        {0x40000000, SECCOMP_RET_LOG},
        {0x40000001, SECCOMP_RET_LOG},
        {0x7fffffff, SECCOMP_RET_LOG},
        {0x80000000, SECCOMP_RET_ERRNO + 1},
        {0xbfffffff, SECCOMP_RET_ERRNO + 1},
        {0xc0000000, SECCOMP_RET_LOG},
        {0xfffffffe, SECCOMP_RET_LOG},
        {0xffffffff, SECCOMP_RET_ALLOW}};
    for (const auto& [nr, action] : kExpected)
      EXPECT_EQ(run(program, call(Arch::kX86_64, nr)), action) << nr;
  }
  expect_decides_however(policy);
  // If x32 numbers get the default action, they need no entries.
  Policy same = policy;
  same.x32_action = same.default_action;
  EXPECT_EQ(plan_text(make_plan(same)), "list: read ALLOW, 0xffffffff ALLOW\n");
  expect_decides_however(same);
}

TEST(Plan, ArchitecturesWithTheSameAuditValueShareAPlan) {
  const Policy policy = policy_from(
      R"j({"version": 1, "arches": ["x32", "x86_64", "i386"], "default_action": "errno(1)", "hot": ["futex"], "rule_sets": [
          {"action": "allow", "rules": {"futex": {"args": {"1": {"eq": 1}}}, "getpid": true}},
          {"action": "trap", "rules": {"futex": true}}]})j");
  const Plan plan = make_plan(policy);
  ASSERT_EQ(plan.arches.size(), 2u);
  EXPECT_EQ(plan.arches[0].audit, AUDIT_ARCH_X86_64);
  EXPECT_EQ(plan.arches[0].hot, std::vector<std::uint32_t>{kX32Bit | 202});
  EXPECT_EQ(plan.arches[1].hot, std::vector<std::uint32_t>{240});
  EXPECT_EQ(plan_text(plan),
            "arch 0xc000003e\nlist: x32:getpid ALLOW, x32:futex ?1, getpid ALLOW, futex ?3\n"
            "arch 0x40000003\nlist: getpid ALLOW, futex ?1\n");
  EXPECT_EQ(
      plan_text(standard(policy)),
      "arch 0xc000003e\nlist: x32:futex ?1\nlist: x32:getpid ALLOW, futex ?1\nlist: getpid ALLOW\n"
      "trees of values\n"
      "arch 0x40000003\nlist: futex ?1\nlist: getpid ALLOW\ntrees of values\n");
  expect_decides_however(policy);
  // A policy in JSON cannot have both x32 and an x32 action, but decide() defines what this means.
  Policy both = policy;
  both.x32_action = SECCOMP_RET_LOG;
  EXPECT_EQ(make_plan(both), plan);
}

TEST(Plan, UsesTheByteOrderOfTheArchitecture) {
  const Policy policy = policy_from(
      R"j({"version": 1, "arches": ["s390x", "x86_64"], "default_action": "errno(1)", "rule_sets": [
          {"action": "trap", "vsyscall": true, "rules": {"write": true}},
          {"action": "allow", "rules": {"read": {"args": {"0": {"eq": "0x100000002"}}}, "write": true}}]})j");
  const std::string text = shortened(make_plan(policy));
  EXPECT_NE(text.find("ld [16]\n        jeq #1"), std::string::npos) << "the high half first\n"
                                                                     << text;
  EXPECT_NE(text.find("ld [8]\n"), std::string::npos)
      << "the high half of the instruction pointer first, too\n"
      << text;
  expect_decides_however(policy);
}

// futex is hot, and the other calls are not. All calls share one piece of code, which comes after
// the last search.
TEST(Plan, EmitsSharedCodeOnlyOnce) {
  const std::string rule = R"j({"args": {"1": {"eq": 77, "bits": 32}}})j";
  Policy policy = x86_64_policy(fmt::format(
      R"j({{"action": "allow", "rules": {{"read": {0}, "write": true, "poll": {0}, "lseek": {0}, "ioctl": {0}, "futex": {0},
          "open": {{"args": {{"0": {{"eq": 5}}}}}}, "stat": {{"args": {{"0": {{"eq": 6}}}}}}}}}})j",
      rule));
  policy.hot = {"futex"};
  const Plan plan = standard(policy);
  EXPECT_EQ(plan_text(plan),
            "list: futex ?0\n"
            "tree pinned apart>16: read ?0, open ?2, stat ?3, poll..lseek ?0, ioctl ?0\n"
            "list: write ALLOW\n"
            "trees of values\n");
  for (const Plan& one : {plan, apply("code-apart", plan)}) {
    const Program program = render(one);
    EXPECT_EQ(std::ranges::count(program, Insn{kJeqK, 0, 1, 77}), 1);
    expect_decides(policy, one);
  }
  expect_decides_however(policy);
}

TEST(Plan, EmitsTreesOfValues) {
  const Policy policy = x86_64_policy(
      R"j({"action": "allow", "rules": {"read": {"any_of": [
          {"args": {"0": {"eq": 1, "bits": 32}}}, {"args": {"0": {"eq": 2, "bits": 32}}}, {"args": {"0": {"eq": 3, "bits": 32}}}]}}})j");
  EXPECT_EQ(shortened(apply("value-trees", make_plan(policy))),
            text_of("ld [4]\njeq #0xc000003e, n, bad\nn: ld [0]\njeq #0, read, no\nread: ld "
                    "[16]\njge #1, f, no\nf: jgt #3, no, yes\nno: ret #0x50001\nyes: ret "
                    "#0x7fff0000\nbad: ret #0x80000000"));
  expect_decides_however(policy);
}

TEST(Plan, EmptyPoliciesReturnTheDefaultAction) {
  Policy policy = policy_with(Arch::kX86_64, {}, true);
  for (const bool without_sets : {false, true}) {
    if (without_sets) policy.rule_sets.clear();
    EXPECT_EQ(plan_text(make_plan(policy)), "list\n");
    for (const Plan& plan : {make_plan(policy), standard(policy)})
      EXPECT_EQ(shortened(plan), text_of("ld [4]\njeq #0xc000003e, n, bad\nn: ld [0]\nret "
                                         "#0x50001\nbad: ret #0x80000000"));
    expect_decides_however(policy);
  }
}

TEST(Plan, UsesTreesFromFiveCallsOn) {
  for (const std::size_t count : {1u, 4u, 5u, 15u, 16u, 300u}) {
    for (const bool constant : {false, true}) {
      std::vector<std::uint32_t> numbers(count);
      for (std::uint32_t i = 0; i < count; ++i) numbers[i] = i + i / 3;
      const Policy policy = policy_with(Arch::kX86_64, numbers, constant);
      const Plan plan = standard(policy);
      ASSERT_EQ(plan.arches[0].stages.size(), 1u);
      EXPECT_EQ(plan.arches[0].stages[0].tree, count >= 5) << count;
      EXPECT_EQ(plan.arches[0].stages[0].pinned, count >= 5) << count;
      EXPECT_EQ(apply("single-tree", make_plan(policy)).arches[0].stages[0].tree, count >= 16);
      expect_decides_however(policy);
      if (HasFatalFailure()) return;
    }
  }
}

// If the bounds leave only one number, no test is needed.
TEST(Plan, PinnedBoundsOmitTests) {
  const std::vector<std::uint32_t> numbers = {0, 1, 2, 3, 4, 5};
  const Plan tree = apply("search-trees", make_plan(policy_with(Arch::kX86_64, numbers, false)));
  const auto tests_of = [](const Plan& plan, std::uint32_t k) {
    return std::ranges::count(render(plan), Insn{kJeqK, 0, 1, k});
  };
  const Plan pinned = apply("pinned-bounds", tree);
  EXPECT_EQ(tests_of(tree, 2), 2) << "one test of the number, one of the argument";
  EXPECT_EQ(tests_of(pinned, 2), 1) << "a number below 3 that is not 0 or 1 must be 2";
  EXPECT_EQ(tests_of(pinned, 5), 2) << "there are numbers above 5";
}

// Code with more than 16 matchers comes after the search. With code-apart, all code does.
TEST(Plan, LargeCodeComesAfterTheSearch) {
  for (const std::size_t size : {1u, 16u, 17u}) {
    const std::vector<std::uint32_t> numbers = {100, 101, 102, 103, 104};
    Policy policy = policy_with(Arch::kX86_64, numbers, false);
    Rule& first = policy.rule_sets[0].rules[0].rule;
    Rule all;
    all.kind = Rule::Kind::kAllOf;
    all.children.assign(size, first);
    first = all;
    const auto in_place = [&](const Plan& plan) {
      const Program program = render(plan);
      const auto place = [&](std::uint32_t k) {
        const auto found =
            // Finds the test of the argument.
            std::find(program.rbegin(), program.rend(), Insn{kJeqK, 0, 1, k});
        return program.rend() - found;
      };
      return place(100) < place(101);
    };
    const Plan tree = apply("search-trees", make_plan(policy));
    EXPECT_TRUE(in_place(tree)) << size;
    EXPECT_EQ(in_place(apply("large-code-apart", tree)), size <= 16) << size;
    EXPECT_TRUE(in_place(apply("large-code-apart", make_plan(policy))))
        << "only trees move large code";
    // With code-apart, all code comes after the search, in the order of the calls.
    const Program apart = render(apply("code-apart", tree));
    const auto last_search = std::ranges::find(apart, Insn{kJeqK, 0, 1, 104});
    const auto first_code = std::ranges::find(apart, Insn{kLdWAbs, 0, 0, 20});
    EXPECT_LT(last_search - apart.begin(), first_code - apart.begin()) << size;
  }
}

// A test in front of all searches must save more than it costs.
TEST(Plan, RareCallsAreNotHot) {
  const std::vector<std::uint32_t> numbers = {0, 1, 3, 39, 202, 463};
  Policy policy = policy_with(Arch::kX86_64, numbers, false);
  const auto hot = [&](const std::vector<SyscallCount>& profile) {
    return make_plan(policy, profile).arches[0].hot;
  };
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(hot({{"read", 0}}), Numbers{}) << "never called";
  // A search among six numbers takes about three tests.
  EXPECT_EQ(hot({{"read", 100}, {"write", 100}, {"close", 100}, {"getpid", 100}}),
            (Numbers{0, 1, 3, 39}));
  EXPECT_EQ(hot({{"read", 100}, {"write", 100}, {"close", 100}, {"getpid", 100}, {"futex", 100}}),
            Numbers{})
      << "an early test of read costs the other four calls more than it saves";
  // Calls that the kernel allows from its cache do not count, because it does not run the filter
  // for them.
  policy.rule_sets[0].rules[0].rule = Rule{};
  EXPECT_EQ(hot({{"read", 1000000}, {"write", 5}}), Numbers{1});
}

TEST(Plan, FrequentCallsComeFirst) {
  const std::vector<std::uint32_t> numbers = {0, 1, 3, 39, 202, 463};
  Policy policy = policy_with(Arch::kX86_64, numbers, false);
  policy.hot = {"close", "read", "close", "fork"};
  EXPECT_EQ(make_plan(policy).arches[0].hot, (std::vector<std::uint32_t>{3, 0}))
      << "each call once, and only calls with a rule";
  EXPECT_EQ(plan_text(standard(policy)).substr(0, 22), "list: close ?2, read ?");
  const std::vector<SyscallCount> given = {
      {"futex", 900}, {"syscall_0x1cf", 90}, {"nosuch", 20}, {"write", 9}};
  EXPECT_EQ(make_plan(policy, given).arches[0].hot, (std::vector<std::uint32_t>{202, 463, 1}))
      << "the profile replaces the policy's list; strace's names for unknown numbers count";
  EXPECT_EQ(plan_text(standard(policy, given)),
            "list: futex ?4, setxattrat ?5, write ?1\n"
            "list: read ?0, close ?2, getpid ?3\n"
            "trees of values\n");
  // The kernel answers these calls from its cache, so they are never hot.
  EXPECT_EQ(plan_text(standard(policy_with(Arch::kX86_64, numbers, true), given)).substr(0, 20),
            "tree weighted pinned");
  EXPECT_EQ(plan_text(standard(policy_with(Arch::kX86_64, numbers, true))).substr(0, 11),
            "tree pinned")
      << "without a profile, no tree has weights";
}

// Layout passes must not depend on the order in which they run.
TEST(Plan, LayoutPassesWorkInAnyOrder) {
  Random random(71);
  constexpr int kPolicies = of_cases(600);
  for (int i = 0; i < kPolicies; ++i) {
    Policy policy = random_policy(random);
    for (const RuleSet& set : policy.rule_sets)
      for (const SyscallRule& entry : set.rules)
        if (random.one_in(2)) policy.hot.emplace_back(syscall_name(entry.arch, entry.nr));
    Plan plan = make_plan(policy);
    std::string order;
    for (std::size_t n = random.below(12); n > 0; --n) {
      const Pass& pass = random.pick(layout_passes());
      plan = std::get<LayoutPass>(pass.run)(plan);
      order += fmt::format("{} ", pass.name);
    }
    expect_decides(policy, plan, 300);
    if (HasFatalFailure()) FAIL() << order;
  }
}

}  // namespace
}  // namespace secequiv::layout_plan_test
