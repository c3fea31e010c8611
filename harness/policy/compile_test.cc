#include "harness/policy/compile.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/bpf/flow.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/inputs/cases.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::policy_compile_test {
namespace {

std::set<std::uint32_t> actions_of(const Policy& policy) {
  std::set<std::uint32_t> out = {policy.default_action, policy.bad_arch_action};
  if (policy.x32_action) out.insert(*policy.x32_action);
  for (const DefaultRange& range : policy.default_ranges) out.insert(range.action);
  for (const RuleSet& set : policy.rule_sets) out.insert(set.action);
  return out;
}

// Checks the properties that every compiled program has.
void expect_well_formed(const Policy& policy, const Program& program) {
  const auto refusal = refusal_of(program, LengthRule::kUnlimited);
  ASSERT_FALSE(refusal) << describe(*refusal, program);
  const auto actions = actions_of(policy);
  const std::set<std::uint16_t> expected = {kLdWAbs, kAndK, kJa,    kJeqK,
                                            kJgtK,   kJgeK, kJsetK, kRetK};
  const auto reached = reachable(program);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    ASSERT_TRUE(expected.contains(in.code)) << insn_text(program, pc);
    if (in.code == kRetK) {
      ASSERT_TRUE(actions.contains(in.k)) << "returns " << describe_action(in.k);
    }
    // Two unconditional jumps follow each conditional one, so that it can reach every target.
    if (is_conditional(in)) {
      ASSERT_EQ(in.jt, 0);
      ASSERT_EQ(in.jf, 1);
      ASSERT_EQ(program[pc + 1].code, kJa);
      ASSERT_EQ(program[pc + 2].code, kJa);
    }
    if (is_ret(in) && pc + 1 < program.size()) {
      ASSERT_TRUE(is_ret(program[pc + 1])) << "returns stand together at the end";
    }
    if (!is_ret(in) && reached[pc]) {
      ASSERT_LT(pc + 1, program.size()) << "falls off the end";
    }
  }
}

// Runs the program on `data` and compares the result with the policy's decision.
std::uint32_t expect_decides(const Policy& policy, const Program& program,
                             const SeccompData& data) {
  const std::uint32_t decided = decide(policy, data);
  const std::uint32_t returned = run(program, data);
  EXPECT_EQ(returned, decided) << "policy: " << describe_action(decided)
                               << ", program: " << describe_action(returned) << " for "
                               << describe(data) << "\n"
                               << write_policy(policy);
  return returned;
}

TEST(Compile, RandomPoliciesDecideCorrectly) {
  Random random(60);
  std::size_t outcomes = 0;
  for (int i = 0; i < of_cases(400); ++i) {
    const Policy policy = random_policy(random);
    const Program program = compile(policy);
    expect_well_formed(policy, program);
    // Some rounds use all derived inputs. The others use a sample.
    const CaseLimits limits =
        i % 100 == 0 ? CaseLimits{} : CaseLimits{.per_syscall = 300, .total = 4000000};
    std::set<std::uint32_t> returned;
    for (const SeccompData& data : derive_cases(policy, limits).inputs) {
      returned.insert(expect_decides(policy, program, data));
      if (HasFailure()) return;
    }
    for (int j = 0; j < 1000; ++j) {
      expect_decides(policy, program, random_call(random, policy));
      if (HasFailure()) return;
    }
    outcomes += returned.size();
  }
  EXPECT_GT(outcomes, static_cast<std::size_t>(of_cases(1200)))
      << "the cases reach more than the default actions";
}

TEST(Compile, MatchersAreCorrectAtBoundariesInBothByteOrders) {
  std::vector<std::uint64_t> points;
  for (const std::uint64_t k :
       {0ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull, 0x100000000ull, 0x1ffffffffull,
        0x7fffffffffffffffull, 0x8000000000000000ull, 0xffffffff00000000ull, 0xffffffffffffffffull})
    for (const std::uint64_t v : {k - 1, k, k + 1}) points.push_back(v);
  for (const Arch arch : {Arch::kX86_64, Arch::kS390x}) {
    for (int op = 0; op < 10; ++op) {
      for (const int field : {0, 5, kIpField}) {
        for (const std::uint64_t k : points) {
          Policy policy;
          policy.arches = {arch};
          policy.default_action = SECCOMP_RET_ERRNO;
          policy.bad_arch_action = SECCOMP_RET_KILL_PROCESS;
          Rule rule;
          rule.kind = Rule::Kind::kArgs;
          Matcher& m = rule.fields[static_cast<std::size_t>(field)];
          m.op = static_cast<Matcher::Op>(op);
          m.value = k;
          m.mask = op == static_cast<int>(Matcher::Op::kMaskedEq) ? k | 0xff00ff : k;
          policy.rule_sets = {RuleSet{SECCOMP_RET_ALLOW, false, {SyscallRule{arch, 1, rule}}}};
          const Program program = compile(policy);
          Policy narrow = policy;
          Matcher& half = narrow.rule_sets[0].rules[0].rule.fields[static_cast<std::size_t>(field)];
          half.low_half = half.op != Matcher::Op::kAny;
          half.value &= 0xffffffff;
          half.mask &= 0xffffffff;
          const Program narrow_program = compile(narrow);
          for (const std::uint64_t v : points) {
            SeccompData data = call(arch, 1);
            data.set_field(field, v, arch_info(arch).endian);
            expect_decides(policy, program, data);
            expect_decides(narrow, narrow_program, data);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Compile, EmitsStraightforwardCode) {
  const Policy policy = x86_64_policy(
      R"j({"action": "allow", "rules": {"read": {"args": {"0": {"eq": "0x100000002"}}}, "write": true}})j");
  EXPECT_EQ(asm_text(compile(policy)),
            "        ld [4]\n"
            "        jeq #0xc000003e, L2, L3\n"
            "L2:     ja L4\n"
            "L3:     ja L28\n"
            "L4:     ld [0]\n"
            "        jeq #0, L6, L7\n"
            "L6:     ja L8\n"
            "L7:     ja L23\n"
            "L8:     ld [20]\n"
            "        jeq #1, L10, L11\n"
            "L10:    ja L12\n"
            "L11:    ja L27\n"
            "L12:    ld [16]\n"
            "        jeq #2, L14, L15\n"
            "L14:    ja L16\n"
            "L15:    ja L27\n"
            "L16:    ja L17\n"  // no tests of the other five arguments and of ip
            "L17:    ja L18\n"
            "L18:    ja L19\n"
            "L19:    ja L20\n"
            "L20:    ja L21\n"
            "L21:    ja L22\n"
            "L22:    ja L30\n"
            "L23:    jeq #1, L24, L25\n"
            "L24:    ja L26\n"
            "L25:    ja L27\n"
            "L26:    ja L30\n"
            "L27:    ja L29\n"
            "L28:    ja L31\n"
            "L29:    ret #0x50001\n"
            "L30:    ret #0x7fff0000\n"
            "L31:    ret #0x80000000\n");
}

TEST(Compile, PolicyWithoutRulesReturnsItsDefaults) {
  const Policy policy = x86_64_policy("");
  const Program program = compile(policy);
  expect_well_formed(policy, program);
  EXPECT_EQ(run(program, call(Arch::kX86_64, 0)), policy.default_action);
  EXPECT_EQ(run(program, call(Arch::kI386, 0)), policy.bad_arch_action);
}

// x86_64 and x32 share an audit value, so a number may be in both tables.
TEST(Compile, NumberListedForX86_64AndX32TriesBothRules) {
  const Policy policy = policy_from(
      R"j({"version": 1, "arches": ["x32", "x86_64"], "default_action": "errno(1)", "rule_sets": [
    {"action": "allow", "rules": {"x86_64:0x40000001": {"args": {"0": {"eq": 1}}}, "x32:write": {"args": {"0": {"eq": 2}}}}}]})j");
  const Program program = compile(policy);
  for (const std::uint64_t fd : {0u, 1u, 2u, 3u})
    expect_decides(policy, program, call(Arch::kX86_64, kX32Bit + 1, {fd}));
  EXPECT_EQ(run(program, call(Arch::kX86_64, kX32Bit + 1, {2})), SECCOMP_RET_ALLOW);
}

// Rules for an unlisted architecture have no effect, even if a listed architecture has the same
// audit value.
TEST(Compile, IgnoresRulesOfUnlistedArchitectures) {
  Policy policy = x86_64_policy("");
  policy.rule_sets = {
      RuleSet{SECCOMP_RET_ALLOW,
              false,
              {SyscallRule{Arch::kI386, 3, {}}, SyscallRule{Arch::kX32, kX32Bit, {}}}}};
  const Program program = compile(policy);
  for (const std::uint32_t nr : {0u, 3u, kX32Bit})
    for (const Arch arch : {Arch::kX86_64, Arch::kI386})
      expect_decides(policy, program, call(arch, nr));
  EXPECT_EQ(run(program, call(Arch::kX86_64, kX32Bit)), policy.default_action);
}

// The program has more than 4096 instructions and jumps far longer than 255.
TEST(Compile, CompilesPoliciesAboveTheLengthLimit) {
  Policy policy = x86_64_policy("");
  RuleSet set{SECCOMP_RET_ALLOW, false, {}};
  for (std::uint32_t nr = 0; nr < 300; ++nr) {
    Rule any;
    any.kind = Rule::Kind::kAnyOf;
    for (std::uint64_t v = 0; v < 3; ++v) {
      Rule one;
      one.kind = Rule::Kind::kArgs;
      one.fields[v].op = Matcher::Op::kEq;
      one.fields[v].value = nr << 16 | v;
      any.children.push_back(one);
    }
    set.rules.push_back(SyscallRule{Arch::kX86_64, nr, any});
  }
  policy.rule_sets = {set};
  const Program program = compile(policy);
  EXPECT_GT(program.size(), kMaxInsns);
  EXPECT_EQ(refusal_of(program)->rule, RefusalRule::kLength);
  expect_well_formed(policy, program);
  std::size_t far = 0;
  for (const Insn& in : program) far += in.code == kJa && in.k > 255 ? 1 : 0;
  EXPECT_GT(far, 100u);
  for (const SeccompData& data :
       derive_cases(policy, {.per_syscall = 200, .total = 4000000}).inputs) {
    expect_decides(policy, program, data);
    if (HasFailure()) return;
  }
}

// No rule is emitted twice, so the size is linear in the rules.
TEST(Compile, SizeIsLinearInTheRules) {
  const auto size = [](std::uint32_t rules) {
    Policy policy = x86_64_policy("");
    RuleSet set{SECCOMP_RET_ALLOW, false, {}};
    for (std::uint32_t nr = 0; nr < rules; ++nr)
      set.rules.push_back(SyscallRule{Arch::kX86_64, nr, {}});
    policy.rule_sets = {set};
    return compile(policy).size();
  };
  EXPECT_EQ(size(200) - size(100), size(300) - size(200));
  EXPECT_EQ(size(101) - size(100), 4u) << "a test, two jumps, and one instruction of the rule";
}

}  // namespace
}  // namespace secequiv::policy_compile_test
