// Tests that decide_symbolic gives the same answers as `decide` if words are numbers, and the same
// function as the compiled policy if words are terms.
#include "verify/symbolic/policy_symbolic.h"

#include <gtest/gtest.h>

#include <map>

#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "verify/smt/session.h"

namespace secequiv::symbolic_policy_symbolic_test {
namespace {

// A domain whose words are numbers and whose truth values are bools.
struct Numbers : Concrete {
  static Bool truth(bool value) { return value; }
  static Bool both(Bool a, Bool b) { return a && b; }
  static Bool either(Bool a, Bool b) { return a || b; }
  static Bool negate(Bool a) { return !a; }
  static Word choose(Bool condition, Word a, Word b) { return condition ? a : b; }
  static bool same(Word a, Word b) { return a == b; }
};

std::uint32_t evaluate(const Policy& policy, const SeccompData& data) {
  Numbers domain{{data.words.data()}};
  const std::map<std::string, std::uint32_t> values(policy.variables.begin(),
                                                    policy.variables.end());
  return decide_symbolic(domain, policy, [&](const std::string& name) { return values.at(name); });
}

TEST(PolicySymbolic, AgreesWithDecideOnRandomPolicies) {
  Random random(50);
  std::map<Origin::Kind, int> kinds;
  int big_endian = 0;
  int vsyscall = 0;
  int variables = 0;
  for (int i = 0; i < of_cases(1500); ++i) {
    const Policy policy = random_policy(random);
    variables += !policy.variables.empty();
    for (int j = 0; j < 100; ++j) {
      const SeccompData data = random_call(random, policy);
      const Origin from = origin(policy, data);
      ASSERT_EQ(evaluate(policy, data), from.action) << describe(data) << "\n"
                                                     << write_policy(policy);
      ++kinds[from.kind];
      big_endian += endian_of(data.arch()) == Endian::kBig && from.kind == Origin::Kind::kRule;
      vsyscall += from.kind == Origin::Kind::kRule && policy.rule_sets[from.rule_set].vsyscall;
    }
  }
  EXPECT_GT(kinds[Origin::Kind::kRule], of_cases(10000));
  EXPECT_GT(kinds[Origin::Kind::kDefault], of_cases(10000));
  EXPECT_GT(kinds[Origin::Kind::kBadArch], of_cases(1000));
  EXPECT_GT(kinds[Origin::Kind::kX32], of_cases(1000));
  EXPECT_GT(big_endian, of_cases(1000));
  EXPECT_GT(vsyscall, of_cases(500));
  EXPECT_GT(variables, of_cases(500));
}

// Tries every matcher with values at the limits of both halves, on wide fields and low halves, in
// both byte orders.
TEST(PolicySymbolic, AgreesWithEveryMatcher) {
  static constexpr std::uint64_t kEdges[] = {
      0,           1,           0x7fffffff,         0x80000000,         0xffffffff,
      0x100000000, 0x100000001, 0x7fffffff80000000, 0xffffffff00000000, 0xffffffffffffffff};
  for (const Arch arch : {Arch::kX86_64, Arch::kS390x}) {
    for (int op = 0; op <= static_cast<int>(Matcher::Op::kNonNegativeFd); ++op) {
      for (const bool low_half : {false, true}) {
        for (const std::uint64_t value : kEdges) {
          for (const std::uint64_t mask : kEdges) {
            Policy policy;
            policy.arches = {arch};
            policy.default_action = 1;
            Rule rule;
            rule.kind = Rule::Kind::kArgs;
            Matcher& m = rule.fields[2];
            m.op = static_cast<Matcher::Op>(op);
            m.value = value;
            m.mask = mask;
            m.low_half = low_half;
            policy.rule_sets = {RuleSet{2, false, {{arch, 7, rule}}}};
            for (const std::uint64_t field : kEdges) {
              const SeccompData data = call(arch, 7, {~field, ~field, field});
              ASSERT_EQ(evaluate(policy, data), decide(policy, data))
                  << op << " " << value << " " << mask << " " << field;
            }
          }
        }
      }
    }
  }
}

// No reader produces these policies, but code can build them.
TEST(PolicySymbolic, AgreesOnPoliciesBuiltInCode) {
  Policy policy;
  policy.arches = {Arch::kX86_64, Arch::kX32};
  policy.default_action = 1;
  policy.bad_arch_action = 2;
  policy.x32_action = 3;  // ignored, because x32 is listed
  policy.rule_sets = {RuleSet{
      4,
      false,
      {{Arch::kX86_64, 0, Rule{}}, {Arch::kI386, 7, Rule{}}, {Arch::kX32, kX32Bit, Rule{}}}}};
  std::map<std::uint32_t, int> answers;
  for (const auto& arches : {policy.arches, std::vector{Arch::kX86_64}, std::vector{Arch::kX32},
                             std::vector{Arch::kI386}}) {
    policy.arches = arches;
    for (const Arch arch : {Arch::kX86_64, Arch::kI386, Arch::kArm})
      for (const std::uint32_t nr : {0u, 7u, kX32Bit, kX32Bit + 1, 0xffffffffu}) {
        const SeccompData data = call(arch, nr);
        EXPECT_EQ(evaluate(policy, data), decide(policy, data)) << describe(data);
        ++answers[decide(policy, data)];
      }
  }
  EXPECT_EQ(answers.size(), 4u);
}

// A variable has 32 bits. A field equals it only if its high half is 0.
TEST(PolicySymbolic, LooksUpVariablesByName) {
  const Policy policy = policy_from(R"j({"version": 1, "arches": ["x86_64"],
    "default_action": "errno(1)", "variables": {"a": 5, "b": 6},
    "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {"eq": "$a"}, "1": {"lt": "$b"}}}}}]})j");
  const SeccompData data = call(Arch::kX86_64, 0, {0x80000000, 9});
  Numbers domain{{data.words.data()}};
  std::map<std::string, std::uint32_t> values = {{"a", 0x80000000}, {"b", 10}};
  const auto look = [&](const std::string& name) { return values.at(name); };
  EXPECT_EQ(decide_symbolic(domain, policy, look), SECCOMP_RET_ALLOW);
  values["b"] = 9;
  EXPECT_EQ(decide_symbolic(domain, policy, look), 0x50001u);
  values["b"] = 10;
  const SeccompData high = call(Arch::kX86_64, 0, {0x180000000, 9});
  Numbers other{{high.words.data()}};
  EXPECT_EQ(decide_symbolic(other, policy, look), 0x50001u);
}

bool same_as_compiled(const Policy& policy, const Program& program) {
  smt::Terms terms;
  const std::map<std::string, std::uint32_t> values(policy.variables.begin(),
                                                    policy.variables.end());
  Z3_ast decided = decide_symbolic(
      terms, policy, [&](const std::string& name) { return terms.constant(values.at(name)); });
  smt::Solver solver(terms);
  solver.require(terms.negate(terms.eq(decided, run_symbolic(terms, program).result)));
  const Z3_lbool answer = solver.check();
  EXPECT_NE(answer, Z3_L_UNDEF);
  EXPECT_EQ(terms.error(), "");
  return answer == Z3_L_FALSE;
}

TEST(PolicySymbolic, EqualsTheCompiledPolicy) {
  Random random(51);
  int different = 0;
  for (int i = 0; i < 60; ++i) {
    const Policy policy = random_policy(random);
    Program program = compile(policy);
    ASSERT_TRUE(same_as_compiled(policy, program)) << write_policy(policy);
    for (Insn& in : program)
      if (in.code == kRetK && in.k == policy.rule_sets.front().action) in.k ^= 1;
    different += !same_as_compiled(policy, program);
  }
  EXPECT_GE(different, 20) << "some first rule sets are empty or never match";
}

}  // namespace
}  // namespace secequiv::symbolic_policy_symbolic_test
