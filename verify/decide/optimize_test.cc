// Proves every pass of the reference optimizer over the corpus and over 10,000 random policies or
// programs: the result makes the same decisions for all inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/generate/policy.h"
#include "harness/generate/random_program.h"
#include "harness/import/import_oci.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/cache.h"
#include "verify/dd/engine.h"

namespace secequiv::decide_optimize_test {
namespace {

constexpr std::size_t kRandom = kShare == 1 ? 10000 : 200;
// A program that exceeds these limits is replaced by another one.
constexpr dd::Limits kSmall{std::size_t{1} << 16, std::size_t{1} << 16};

const std::filesystem::path kCorpus = std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus";

std::vector<std::pair<std::string, Policy>> corpus_policies() {
  std::vector<std::pair<std::string, Policy>> out;
  for (const char* folder : {"gvisor", "seed", "oci"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kCorpus / "policies" / folder)) {
      if (entry.path().extension() != ".json") continue;
      const std::string name = entry.path().filename();
      auto text = read_file(entry.path());
      EXPECT_TRUE(text) << name;
      if (std::string_view(folder) == "oci") {
        auto imported = import_oci(*text, name, {});
        EXPECT_TRUE(imported) << name;
        if (imported) out.emplace_back(name, std::move(imported->policy));
      } else {
        out.emplace_back(name, policy_from(*text));
      }
    }
  }
  EXPECT_GT(out.size(), 25u);
  return out;
}

std::vector<std::pair<std::string, Program>> corpus_programs() {
  std::vector<std::pair<std::string, Program>> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kCorpus / "programs")) {
    if (entry.path().extension() != ".bpf") continue;
    const std::string name = entry.path().filename();
    auto text = read_file(entry.path());
    EXPECT_TRUE(text) << name;
    auto program = read_program(*text, name);
    EXPECT_TRUE(program) << name;
    if (program) out.emplace_back(name, std::move(*program));
  }
  EXPECT_GT(out.size(), 20u);
  return out;
}

Verdict prove_same(const Program& before, const Program& after, const dd::Limits& limits = {}) {
  const auto proof = dd::prove(Pair{before, after, Sameness::kRaw}, limits);
  return proof ? proof->verdict : Verdict::kUnknown;
}

// In random policies all actions are distinct, so that no mistake stays hidden. But some
// optimizations require two rule sets with the same action, or one with the default action.
Policy some_policy(Random& random) {
  Policy policy = random_policy(random);
  for (RuleSet& set : policy.rule_sets)
    if (random.one_in(4))
      set.action = random.one_in(2) ? policy.default_action : random.pick(policy.rule_sets).action;
  return policy;
}

// Applies a pass of any kind to a policy and returns the program.
Program through(const Pass& pass, const Policy& policy) {
  const Pass* one[] = {&pass};
  return optimize(policy, one).program;
}

bool lost(const std::vector<bool>& before, const std::vector<bool>& after) {
  for (std::size_t nr = 0; nr < before.size(); ++nr)
    if (before[nr] && !after[nr]) return true;
  return false;
}

class EveryPass : public testing::TestWithParam<const Pass*> {};
class PolicyPass : public testing::TestWithParam<const Pass*> {};  // passes over rules, and layouts
class ProgramPass : public testing::TestWithParam<const Pass*> {};

TEST_P(EveryPass, IsProvenOverTheCorpus) {
  const Pass& pass = *GetParam();
  for (const auto& [name, policy] : corpus_policies()) {
    const Program before = compile(policy);
    const Program after = through(pass, policy);
    EXPECT_FALSE(refusal_of(after, LengthRule::kUnlimited)) << name;
    EXPECT_EQ(prove_same(before, after), Verdict::kEquivalent) << pass.name << ": " << name;
  }
  if (pass.kind() != Pass::Kind::kBytecode) return;
  for (const auto& [name, program] : corpus_programs())
    EXPECT_EQ(prove_same(program, std::get<BytecodePass>(pass.run)(program)), Verdict::kEquivalent)
        << pass.name << ": " << name;
}

TEST_P(PolicyPass, IsProvenOverRandomPolicies) {
  const Pass& pass = *GetParam();
  Random random(4000);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < kRandom; ++i) {
    // Half of the policies have gone through all earlier passes, as they do in the optimizer.
    Policy policy = some_policy(random);
    const Program original = compile(policy);
    std::vector<const Pass*> passes;
    if (random.one_in(2))
      for (const Pass& earlier : all_passes()) {
        if (&earlier == &pass) break;
        passes.push_back(&earlier);
      }
    const Program before = passes.empty() ? original : optimize(policy, passes).program;
    passes.push_back(&pass);
    const Program after = optimize(policy, passes).program;
    if (before == after) continue;  // the tests of the earlier passes prove this program
    ++changed;
    ASSERT_EQ(prove_same(original, after), Verdict::kEquivalent)
        << pass.name << ", number " << i << "\n"
        << write_policy(policy);
  }
  EXPECT_GT(changed, kRandom / 100) << "too few cases test the pass";
}

TEST_P(ProgramPass, IsProvenOverRandomPrograms) {
  const Pass& pass = *GetParam();
  Random random(4001);
  std::size_t proven = 0;
  std::size_t changed = 0;
  std::size_t undecided = 0;
  while (proven < kRandom) {
    Program before = random_program(random, random.between(1, 40));
    for (std::size_t n = random.below(4); n > 0; --n)
      before = std::get<BytecodePass>(random.pick(bytecode_passes()).run)(before);
    const Program after = std::get<BytecodePass>(pass.run)(before);
    if (before == after) {  // needs no proof
      ++proven;
      continue;
    }
    const Verdict verdict = prove_same(before, after, kSmall);
    if (verdict == Verdict::kUnknown) {
      // The program multiplies unknown words, which exceeds the limits. Another program replaces
      // it.
      ++undecided;
      ASSERT_LT(undecided, 100 + proven / 20);
      continue;
    }
    ASSERT_EQ(verdict, Verdict::kEquivalent) << pass.name << "\nbefore\n"
                                             << asm_text(before) << "after\n"
                                             << asm_text(after);
    ++proven;
    ++changed;
  }
  EXPECT_GT(changed, kRandom / 100) << "too few cases test the pass";
}

std::vector<const Pass*> pointers(std::span<const Pass> passes) {
  std::vector<const Pass*> out;
  for (const Pass& pass : passes) out.push_back(&pass);
  return out;
}

std::string test_name(const testing::TestParamInfo<const Pass*>& parameter) {
  std::string name(parameter.param->name);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EveryPass, testing::ValuesIn(pointers(all_passes())), test_name);
INSTANTIATE_TEST_SUITE_P(Rules, PolicyPass, testing::ValuesIn(pointers(rule_passes())), test_name);
INSTANTIATE_TEST_SUITE_P(Layout, PolicyPass, testing::ValuesIn(pointers(layout_passes())),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Bytecode, ProgramPass, testing::ValuesIn(pointers(bytecode_passes())),
                         test_name);

// Checks the whole optimizer. It must preserve decisions and the calls in the kernel's bitmap. Its
// result is hardly ever longer than that of bytecode passes alone. A second run changes nothing.
TEST(WholeOptimizer, CorpusPoliciesStayEquivalent) {
  for (const auto& [name, policy] : corpus_policies()) {
    const Program before = compile(policy);
    const Optimized result = optimize(policy);
    EXPECT_TRUE(result.fixpoint) << name;
    EXPECT_EQ(prove_same(before, result.program), Verdict::kEquivalent) << name;
    // Search trees may cost a few instructions more than lists.
    const std::size_t listed = optimize(before).program.size();
    EXPECT_LE(result.program.size(), listed + listed / 10 + 4) << name;
    EXPECT_EQ(optimize(policy).program, result.program) << name;
    for (const Arch arch : policy.arches)
      EXPECT_FALSE(lost(cacheable(before, arch), cacheable(result.program, arch))) << name;
  }
}

TEST(WholeOptimizer, RandomPoliciesStayEquivalent) {
  Random random(4002);
  for (std::size_t i = 0; i < kRandom; ++i) {
    const Policy policy = some_policy(random);
    const Program before = compile(policy);
    const Optimized result = optimize(policy);
    ASSERT_TRUE(result.fixpoint) << write_policy(policy);
    ASSERT_EQ(prove_same(before, result.program), Verdict::kEquivalent) << write_policy(policy);
    for (const Arch arch : policy.arches)
      ASSERT_FALSE(lost(cacheable(before, arch), cacheable(result.program, arch)))
          << write_policy(policy);
  }
}

// Runs any subset of the passes in the table's order. No pass may rely on another one.
TEST(WholeOptimizer, AnySubsetOfPassesStaysEquivalent) {
  Random random(4003);
  for (std::size_t i = 0; i < kRandom / 4; ++i) {
    const Policy policy = some_policy(random);
    std::vector<const Pass*> passes;
    for (const Pass& pass : all_passes())
      if (random.one_in(2)) passes.push_back(&pass);
    ASSERT_EQ(prove_same(compile(policy), optimize(policy, passes).program), Verdict::kEquivalent)
        << write_policy(policy);
  }
}

}  // namespace
}  // namespace secequiv::decide_optimize_test
