// Runs every pass on random programs and compiled policies. The result must make the same
// decisions, stay legal, and never be longer.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/generate/random_program.h"
#include "harness/inputs/cases.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"

namespace secequiv::optimize_passes_random_test {
namespace {

std::vector<SeccompData> inputs_for(int seed, const Program& program) {
  Random random(static_cast<std::uint64_t>(seed));
  std::vector<SeccompData> inputs = random_inputs(random, program, 60);
  for (const SeccompData& data : derive_cases(program, {.per_syscall = 60, .total = 300}).inputs)
    inputs.push_back(data);
  return inputs;
}

void expect_same(const Program& before, const Program& after, std::span<const SeccompData> inputs,
                 std::string_view what) {
  ASSERT_LE(after.size(), before.size()) << what;
  const auto refusal = refusal_of(after, LengthRule::kUnlimited);
  ASSERT_FALSE(refusal) << what << ": " << describe(*refusal, after) << "\nbefore\n"
                        << asm_text(before) << "after\n"
                        << asm_text(after);
  for (const SeccompData& input : inputs)
    ASSERT_EQ(run(after, input), run(before, input)) << what << "\nbefore\n"
                                                     << asm_text(before) << "after\n"
                                                     << asm_text(after);
}

Program run_on(const Pass& pass, ProgramView program) {
  return std::get<BytecodePass>(pass.run)(program);
}

class EveryPass : public testing::TestWithParam<const Pass*> {};

TEST_P(EveryPass, KeepsTheDecisionsOfRandomPrograms) {
  const Pass& pass = *GetParam();
  Random random(80);
  std::size_t changed = 0;
  for (int i = 0; i < of_cases(1500); ++i) {
    const Program before =
        random_program(random, i % 100 == 0 ? random.between(300, 800) : random.between(1, 60));
    const Program after = run_on(pass, before);
    if (after == before) continue;
    ++changed;
    expect_same(before, after, inputs_for(i, before), pass.name);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changed, static_cast<std::size_t>(of_cases(50))) << "too few programs test the pass";
}

// During an optimization, passes meet programs that other passes produced.
TEST_P(EveryPass, KeepsDecisionsAfterOtherPasses) {
  const Pass& pass = *GetParam();
  Random random(81);
  for (int i = 0; i < of_cases(500); ++i) {
    Program program = random_program(random, random.between(2, 60));
    for (std::size_t n = random.below(6); n > 0; --n)
      program = run_on(random.pick(bytecode_passes()), program);
    const Program after = run_on(pass, program);
    if (after == program) continue;
    expect_same(program, after, inputs_for(i, program), pass.name);
    if (HasFatalFailure()) return;
  }
}

// If may_change() returns false, the pass must change nothing.
TEST_P(EveryPass, MayChangeIsTrueIfThePassChangesSomething) {
  const Pass& pass = *GetParam();
  if (pass.may_change == nullptr) return;
  Random random(87);
  int ruled_out = 0;
  for (int i = 0; i < of_cases(3000); ++i) {
    Program program = random_program(random, random.between(1, 40));
    for (std::size_t n = random.below(6); n > 0; --n)
      program = run_on(random.pick(bytecode_passes()), program);
    if (pass.may_change(program)) continue;
    ++ruled_out;
    ASSERT_EQ(run_on(pass, program), program) << pass.name << "\n" << asm_text(program);
  }
  EXPECT_GT(ruled_out, of_cases(300));
}

// Repeated applications of one pass must reach a fixpoint.
TEST_P(EveryPass, ReachesItsOwnFixpoint) {
  const Pass* pass = GetParam();
  Random random(82);
  for (int i = 0; i < of_cases(500); ++i) {
    const Program program = random_program(random, random.between(2, 60));
    const Optimized once = optimize(program, {&pass, 1});
    EXPECT_TRUE(once.fixpoint);
    EXPECT_EQ(run_on(*pass, once.program), once.program) << pass->name;
  }
}

INSTANTIATE_TEST_SUITE_P(Bytecode, EveryPass, testing::ValuesIn([] {
                           std::vector<const Pass*> out;
                           for (const Pass& pass : bytecode_passes()) out.push_back(&pass);
                           return out;
                         }()),
                         [](const auto& parameter) {
                           std::string name(parameter.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(OptimizeRandom, KeepsTheDecisionsOfRandomPrograms) {
  Random random(83);
  std::size_t removed = 0;
  for (int i = 0; i < of_cases(1500); ++i) {
    const Program before =
        random_program(random, i % 100 == 0 ? random.between(300, 800) : random.between(1, 60));
    const Optimized result = optimize(before);
    EXPECT_TRUE(result.fixpoint);
    expect_same(before, result.program, inputs_for(i, before), "optimize");
    if (HasFatalFailure()) return;
    removed += before.size() - result.program.size();
    // At the fixpoint no pass changes anything.
    ASSERT_EQ(asm_text(optimize(result.program).program), asm_text(result.program));
    for (const Pass& pass : bytecode_passes())
      ASSERT_EQ(run_on(pass, result.program), result.program) << pass.name;
  }
  EXPECT_GT(removed, static_cast<std::size_t>(of_cases(10000)));
}

TEST(OptimizeRandom, KeepsTheDecisionsOfPolicies) {
  Random random(84);
  for (int i = 0; i < of_cases(150); ++i) {
    const Policy policy = random_policy(random);
    const Program before = compile(policy);
    const Program after = optimize(before).program;
    std::vector<SeccompData> inputs;
    for (const SeccompData& data :
         derive_cases(policy, {.per_syscall = 100, .total = 4000000}).inputs)
      inputs.push_back(data);
    for (int j = 0; j < 500; ++j) inputs.push_back(random_call(random, policy));
    expect_same(before, after, inputs, "optimize");
    if (HasFatalFailure()) return;
    EXPECT_LT(2 * after.size(), before.size() + 10);
  }
}

// Two passes must not undo each other's work forever.
TEST(OptimizeRandom, EveryPairOfPassesReachesAFixpoint) {
  Random random(86);
  std::vector<Program> programs = {
      assemble("ld [0]\njeq #1, z, b\nb: ld [0]\nz: jeq #1, c, d\nc: ret #5\nd: ret #5\n")};
  for (int i = 0; i < 5; ++i) programs.push_back(compile(random_policy(random)));
  for (int i = 0; i < 15; ++i) programs.push_back(random_program(random, 60));
  for (const Pass& first : bytecode_passes())
    for (const Pass& second : bytecode_passes())
      for (const Program& program : programs) {
        const Pass* both[] = {&first, &second};
        ASSERT_TRUE(optimize(program, both).fixpoint) << first.name << ", " << second.name << "\n"
                                                      << asm_text(program);
      }
}

// The same program must give the same result.
TEST(OptimizeRandom, IsDeterministic) {
  Random random(85);
  for (int i = 0; i < 50; ++i) {
    const Program program = random_program(random, 100);
    EXPECT_EQ(optimize(program).program, optimize(program).program);
  }
}

}  // namespace
}  // namespace secequiv::optimize_passes_random_test
