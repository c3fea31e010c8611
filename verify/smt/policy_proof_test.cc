// Tests proofs for all values of a policy's variables: correct programs are proven, and every
// mistake is shown by values and an input.
#include "verify/smt/policy_proof.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/generate/policy.h"
#include "harness/optimize/optimizer.h"
#include "harness/optimize/precompile.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::smt::policy_proof_test {
namespace {

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

const Renderer kPlain = [](const Policy& policy) { return compile(policy); };
const Renderer kOptimized = [](const Policy& policy) {
  return optimize(policy, value_blind_passes()).program;
};

Proof proof_of(const Policy& policy, const SymbolicProgram& program, double timeout = 60) {
  auto proof = prove(policy, program, timeout);
  if (proof) return std::move(*proof);
  ADD_FAILURE() << proof.error().text();
  return {};
}

SymbolicProgram compiled(const Policy& policy, const Renderer& render = kOptimized) {
  auto out = compile_with_names(policy, render);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.error().text();
  return {};
}

SymbolicProgram symbolic(std::string_view text) {
  auto out = read_symbolic(text, "test", Form::kAsm);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.error().text();
  return {};
}

// Returns a proof that must find a difference, and runs its witness separately.
Proof difference(const Policy& policy, const SymbolicProgram& program) {
  auto proof = proof_of(policy, program);
  EXPECT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.symbols.size(), policy.variables.size());
  if (!proof.witness || proof.symbols.size() != policy.variables.size()) return {};
  Values values = policy.variables;
  for (std::size_t i = 0; i < values.size(); ++i) values[i].second = proof.symbols[i];
  SymbolicProgram filled = program;
  fill(filled, values);
  EXPECT_TRUE(filled.uses.empty());
  const SeccompData& data = proof.witness->data;
  EXPECT_EQ(decide(with_values(policy, values), data), proof.witness->before);
  EXPECT_EQ(run(filled.program, data), proof.witness->after);
  EXPECT_NE(proof.witness->before, proof.witness->after);
  return proof;
}

// Replaces a name by the number `k`.
void fix(SymbolicProgram& program, std::size_t use, std::uint32_t k) {
  program.program[program.uses[use].pc].k = k;
  program.uses.erase(program.uses.begin() + static_cast<std::ptrdiff_t>(use));
}

Policy small_policy() {
  return policy_from(R"j({"version": 1, "name": "small", "arches": ["x86_64"],
    "default_action": "errno(1)", "variables": {"fd": 3, "pid": 70000},
    "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {"eq": "$fd"}}},
      "write": {"args": {"0": {"eq": "$fd"}}},
      "kill": {"args": {"0": {"gt": "$pid"}}}}}]})j");
}

// A policy that compares one variable with the low half of the first argument of `read` on x86_64.
Policy one_comparison(const std::string& op) {
  return policy_from(R"j({"version": 1, "name": "one", "arches": ["x86_64"],
    "default_action": "errno(1)", "bad_arch_action": "errno(1)", "variables": {"v": 5},
    "rule_sets": [{"action": "allow", "rules": {
      "read": {"args": {"0": {")j" +
                     op + R"j(": "$v", "bits": 32}}}}}]})j");
}

// Returns a program that runs `body` for `read` on x86_64. The labels "yes" and "no" end it.
SymbolicProgram read_only(const std::string& body) {
  return symbolic("ld [4]\njne #0xc000003e, no\nld [0]\njne #0, no\n" + body +
                  "yes: ret #0x7fff0000\nno: ret #0x50001\n");
}

TEST(Precompiled, ProvesTheCorpus) {
  const std::filesystem::path corpus =
      std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus" / "policies";
  std::vector<std::filesystem::path> files = {corpus / "seed" / "variables.json"};
  for (const auto& entry : std::filesystem::directory_iterator(corpus / "gvisor"))
    files.push_back(entry.path());
  ASSERT_EQ(files.size(), 9u);
  int plain = 0;
  for (const auto& file : files) {
    const auto text = read_file(file);
    ASSERT_TRUE(text);
    const Policy policy = policy_from(*text);
    const auto proof = proof_of(policy, compiled(policy));
    EXPECT_EQ(proof.verdict, Verdict::kEquivalent) << file << " " << proof.detail;
    if (refusal_of(compile(policy))) continue;  // too long for the kernel
    EXPECT_EQ(proof_of(policy, compiled(policy, kPlain)).verdict, Verdict::kEquivalent);
    ++plain;
  }
  EXPECT_GE(plain, 5);
}

TEST(Precompiled, ProvesRandomPolicies) {
  Random random(41);
  int with_places = 0;
  for (int i = 0; i < 120; ++i) {
    const Policy policy = random_policy(random);
    const SymbolicProgram program = compiled(policy, i % 2 == 0 ? kOptimized : kPlain);
    EXPECT_EQ(proof_of(policy, program).verdict, Verdict::kEquivalent) << write_policy(policy);
    with_places += !program.uses.empty();
  }
  EXPECT_GE(with_places, 15);
}

TEST(Precompiled, FindsOneMissingName) {
  const Policy policy = small_policy();
  SymbolicProgram broken = compiled(policy, kPlain);
  const auto fd = std::ranges::find(broken.uses, "fd", &SymbolUse::name) - broken.uses.begin();
  fix(broken, static_cast<std::size_t>(fd), 3);
  const auto proof = difference(policy, broken);
  EXPECT_NE(proof.symbols[0], 3u) << "the program is right for the policy's own value";
  EXPECT_EQ(proof.symbols[1], 70000u) << "a variable without effect has the policy's value";
  EXPECT_EQ(proof.witness->data.arch(), AUDIT_ARCH_X86_64);
}

TEST(Precompiled, FindsThatAllNamesAreMissing) {
  const Policy policy = small_policy();
  SymbolicProgram broken = compiled(policy);
  while (!broken.uses.empty()) fix(broken, 0, broken.uses[0].name == "fd" ? 3 : 70000);
  difference(policy, broken);
}

TEST(Precompiled, FindsSwappedNames) {
  const Policy policy = small_policy();
  SymbolicProgram broken = compiled(policy);
  for (SymbolUse& use : broken.uses) use.name = use.name == "fd" ? "pid" : "fd";
  difference(policy, broken);
}

TEST(Precompiled, FindsNamesInWrongPlaces) {
  const Policy policy = small_policy();
  const SymbolicProgram right = compiled(policy);
  int tried = 0;
  for (std::size_t pc = 0; pc < right.program.size(); ++pc) {
    if (!has_free_operand(right.program[pc])) continue;
    if (std::ranges::find(right.uses, pc, &SymbolUse::pc) != right.uses.end()) continue;
    for (const char* name : {"fd", "pid"}) {
      SymbolicProgram added = right;
      added.uses.push_back({pc, name, {}});
      difference(policy, added);
      SymbolicProgram moved = added;
      const auto was = std::ranges::find(moved.uses, name, &SymbolUse::name);
      fix(moved, static_cast<std::size_t>(was - moved.uses.begin()), 3);
      difference(policy, moved);
      ++tried;
    }
  }
  EXPECT_GE(tried, 10);
}

struct Shape {
  const char* op;
  const char* body;
  bool right;
};

TEST(Precompiled, DecidesOtherShapesOfPrograms) {
  const Shape shapes[] = {
      {"eq", "ld [16]\njeq #$v, yes, no\n", true},
      {"eq", "ld [16]\nsub #$v\njeq #0, yes, no\n", true},
      {"eq", "ld [16]\nxor #$v\njeq #0, yes, no\n", true},
      {"eq", "ld [16]\nldx #$v\njeq x, yes, no\n", true},
      {"eq", "ld [16]\nldx #$v\nadd x\ndiv x\njeq #2, yes, no\n", false},
      {"ne", "ld [16]\njeq #$v, no, yes\n", true},
      {"ne", "ld [16]\njeq #$v, yes, no\n", false},
      {"gt", "ld [16]\njgt #$v, yes, no\n", true},
      {"gt", "ld [16]\njge #$v, yes, no\n", false},
      {"ge", "ld [16]\njge #$v, yes, no\n", true},
      {"lt", "ld [16]\njge #$v, no, yes\n", true},
      {"le", "ld [16]\njgt #$v, no, yes\n", true},
      // This sum wraps for some values only.
      {"gt", "ldx #$v\nld #1\nadd x\ntax\nld [16]\njge x, yes, no\n", false},
      // These treat the value as a signed number.
      {"gt", "ld #$v\nxor #0x80000000\ntax\nld [16]\nxor #0x80000000\njgt x, yes, no\n", false},
      {"lt", "ld #$v\nxor #0x80000000\ntax\nld [16]\nxor #0x80000000\njge x, no, yes\n", false},
      // These ignore a bit of the value or test only whether bits are shared.
      {"eq", "ld #$v\nand #0x7fffffff\ntax\nld [16]\njeq x, yes, no\n", false},
      {"eq", "ld [16]\njset #$v, yes, no\n", false},
      // This one is right only for the policy's own value.
      {"eq", "ld [16]\njeq #5, yes, no\n", false},
      // This one also compares the high half, which the policy ignores.
      {"eq", "ld [16]\njeq #$v, more, no\nmore: ld [20]\njeq #0, yes, no\n", false},
  };
  for (const Shape& shape : shapes) {
    const Policy policy = one_comparison(shape.op);
    const SymbolicProgram program = read_only(shape.body);
    if (shape.right)
      EXPECT_EQ(proof_of(policy, program).verdict, Verdict::kEquivalent) << shape.body;
    else
      difference(policy, program);
    if (HasFailure()) {
      ADD_FAILURE() << shape.op << "\n" << shape.body;
      return;
    }
  }
}

TEST(Precompiled, SignedComparisonsDifferOnlyIfSignsDiffer) {
  const Policy policy = one_comparison("gt");
  const auto proof = difference(
      policy,
      read_only("ld #$v\nxor #0x80000000\ntax\nld [16]\nxor #0x80000000\njgt x, yes, no\n"));
  ASSERT_EQ(proof.symbols.size(), 1u);
  EXPECT_NE(proof.symbols[0] >> 31, proof.witness->data.words[4] >> 31);
}

// A division by zero returns the constant 0, even if the last instruction returns a name.
TEST(Precompiled, DivisionByZeroReturnsZero) {
  const Policy policy = policy_from(R"j({"version": 1, "name": "one", "arches": ["x86_64"],
    "default_action": "kill_thread", "bad_arch_action": "kill_thread", "variables": {"v": 5},
    "rule_sets": [{"action": "allow", "rules": {"read": {"args": {"0": {"gt": 4294967295}}}}}]})j");
  const SymbolicProgram program = symbolic(
      "ld [4]\njne #0xc000003e, no\nld [0]\njne #0, no\nld [20]\ntax\nld #1\n"
      "jeq #2, never\ndiv x\nret #0x7fff0000\nno: ret #0\nnever: ret #$v\n");
  EXPECT_EQ(proof_of(policy, program).verdict, Verdict::kEquivalent);
}

TEST(Precompiled, FindsDifferencesThatDoNotDependOnVariables) {
  const Policy policy = small_policy();
  SymbolicProgram broken = compiled(policy);
  for (Insn& in : broken.program)
    if (in.code == kRetK && in.k == 0x50001) in.k = 0x50002;
  EXPECT_EQ(difference(policy, broken).symbols, (std::vector<std::uint32_t>{3, 70000}));
}

TEST(Precompiled, TimeLimitGivesUnknown) {
  const Policy policy = small_policy();
  const auto proof = proof_of(policy, compiled(policy), 1e-9);
  EXPECT_EQ(proof.verdict, Verdict::kUnknown);
  EXPECT_EQ(proof.detail, "time limit of 1e-09 s reached");
  EXPECT_FALSE(proof.witness);
}

TEST(Precompiled, RefusesBadNamesAndOperands) {
  const auto refused = [](const Policy& policy, const SymbolicProgram& program, ErrorCode code) {
    const auto proof = prove(policy, program, 10);
    if (proof) return std::string("no error");
    EXPECT_EQ(proof.error().code, code);
    return proof.error().text();
  };
  const Policy policy = small_policy();
  const SymbolicProgram right = compiled(policy);
  Policy more = policy;
  more.variables.emplace_back("unused", 1);
  EXPECT_EQ(proof_of(more, right).verdict, Verdict::kEquivalent);
  Policy nameless = policy;
  nameless.variables.erase(nameless.variables.begin());
  EXPECT_EQ(refused(nameless, right, ErrorCode::kPolicy), "small: the policy has no variable 'fd'");
  SymbolicProgram other = right;
  other.uses[0].name = "uid";
  EXPECT_EQ(refused(policy, other, ErrorCode::kPolicy), "small: the policy has no variable 'uid'");
  EXPECT_EQ(refused(policy, symbolic("ld [0]\ndiv #$fd\nret a\n"), ErrorCode::kPolicy),
            "small: variable 'fd' is the operand of a division or shift, and the kernel refuses "
            "some of its values");
  EXPECT_NE(refused(policy, symbolic("ld [0]\n"), ErrorCode::kRejected), "no error");
}

TEST(Precompiled, ReplayReturnsOnlyDifferences) {
  const Policy policy = small_policy();
  const SymbolicProgram right = compiled(policy);
  const SeccompData data = call(Arch::kX86_64, 0, {8});
  const Values values{{"fd", 8}, {"pid", 1}};
  EXPECT_FALSE(replay(policy, right, values, data));
  SymbolicProgram broken = right;
  while (!broken.uses.empty()) fix(broken, 0, 3);
  const auto witness = replay(policy, broken, values, data);
  ASSERT_TRUE(witness);
  EXPECT_EQ(witness->before, SECCOMP_RET_ALLOW);
  EXPECT_EQ(witness->after, 0x50001u);
}

}  // namespace
}  // namespace secequiv::smt::policy_proof_test
