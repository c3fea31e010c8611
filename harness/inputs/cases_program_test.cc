// Tests the inputs that are derived from a program alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/bpf/testing.h"
#include "harness/compare/mutants.h"
#include "harness/coverage/coverage.h"
#include "harness/generate/random_program.h"
#include "harness/inputs/cases.h"
#include "harness/policy/testing.h"

namespace secequiv::inputs_cases_program_test {
namespace {

bool has(const Cases& cases, const SeccompData& data) {
  return std::find(cases.inputs.begin(), cases.inputs.end(), data) != cases.inputs.end();
}

const char* const kFilter =
    "ld [4]\njeq #0xc000003e, on, bad\n"
    "on: ld [0]\njeq #257, openat, more\nmore: jge #400, bad, good\n"
    "openat: ld [36]\njeq #1, low, bad\nlow: ld [32]\njset #0x40, bad, good\n"
    "good: ret #0x7fff0000\nbad: ret #0\n";

TEST(ProgramCases, CombineNumbersArchitecturesAndWords) {
  const Cases cases = derive_cases(assemble(kFilter));
  for (const std::uint32_t nr : {0u, 256u, 257u, 258u, 399u, 400u, 401u, 0xffffffffu})
    EXPECT_TRUE(has(cases, call(Arch::kX86_64, nr))) << nr;
  for (const std::uint32_t audit :
       {AUDIT_ARCH_X86_64 - 1, AUDIT_ARCH_X86_64 + 1, 0u, 0xffffffffu}) {
    SeccompData data = call(Arch::kX86_64, 257);
    data.set_arch(audit);
    EXPECT_TRUE(has(cases, data)) << audit;
  }
  // The argument's words take their constants together with the number and architecture that
  // earlier tests require.
  for (const std::uint64_t v :
       {0x100000000ull, 0x100000040ull, 0x40ull, 0x200000040ull, 0x1ffffffffull})
    EXPECT_TRUE(has(cases, call(Arch::kX86_64, 257, {0, 0, v}))) << std::hex << v;
}

TEST(ProgramCases, CoverAStraightforwardFilter) {
  const Program program = assemble(kFilter);
  CoverageMap coverage(program);
  for (const SeccompData& data : derive_cases(program).inputs) coverage.run(data);
  EXPECT_TRUE(coverage.uncovered().empty()) << describe(coverage.uncovered().front(), program);
}

TEST(ProgramCases, AreDeterministicDistinctAndLimited) {
  Random random(71);
  for (int i = 0; i < of_cases(200); ++i) {
    const Program program = random_program(random, random.between(1, 80));
    const CaseLimits limits{.per_syscall = 200, .total = 3000};
    const Cases cases = derive_cases(program, limits);
    EXPECT_EQ(cases.inputs, derive_cases(program, limits).inputs);
    EXPECT_LE(cases.inputs.size(), 3000u);
    EXPECT_GE(cases.inputs.size(), 1u);
    std::set<SeccompData> distinct;
    for (const SeccompData& data : cases.inputs) EXPECT_TRUE(distinct.insert(data).second);
  }
}

TEST(ProgramCases, CountTheCasesThatAreLeftOut) {
  std::string text = "ld [4]\njeq #0xc000003e, on, bad\non: ld [0]\njeq #1, args, bad\nargs:\n";
  for (int word = 4; word < 12; ++word)
    text += "ld [" + std::to_string(4 * word) + "]\njeq #" + std::to_string(100 + word) + ", bad\n";
  const Program program = assemble(text + "ret #1\nbad: ret #0");
  const Cases some = derive_cases(program, {.per_syscall = 50, .total = 4000000});
  EXPECT_GT(some.dropped, 0u);
  const Cases few = derive_cases(program, {.per_syscall = 50, .total = 5});
  EXPECT_EQ(few.inputs.size(), 5u);
  EXPECT_GT(few.dropped, some.dropped);
}

// Returns the mutants of a program that no input distinguishes from it.
std::vector<std::string> missed(ProgramView program, const std::vector<SeccompData>& inputs) {
  std::vector<std::string> out;
  for (const Mutant& mutant : mutants_of(program).accepted) {
    const Program made = mutated(program, mutant);
    if (std::ranges::none_of(
            inputs, [&](const SeccompData& data) { return run(made, data) != run(program, data); }))
      out.push_back(describe(mutant, program));
  }
  return out;
}

// The inputs kill every mutant; without the search, some mutants survive.
TEST(ProgramCases, ShowThatEachInstructionMatters) {
  const Program program = assemble(kFilter);
  EXPECT_EQ(missed(program, derive_cases(program).inputs), std::vector<std::string>{});
  EXPECT_GT(missed(program, derive_cases(program, {.steps = 0}).inputs).size(), 0u);
}

// The program compares the number only with bounds, and loaded words matter only on some paths. The
// three surviving mutants are equivalent: the number is below 10 there, X is 0, and only bit 31 is
// tested.
TEST(ProgramCases, FollowPathsWhereBoundsFixTheNumber) {
  const Program program = assemble(
      "ld [0]\njge #10, bad, low\nlow: jge #9, nine, bad\n"
      "nine: ld [20]\njeq #0, more, bad\nmore: ld [16]\njeq #5, second, third\n"
      "second: ld [24]\njset #0x80000000, bad, good\nthird: ld [24]\njeq #7, good, bad\n"
      "good: ret #0x7fff0000\nbad: ret #0\n");
  EXPECT_EQ(missed(program, derive_cases(program).inputs),
            (std::vector<std::string>{
                "jge #9, L3, L12 becomes jeq #9, L3, L12", "jeq #0, L5, L12 becomes jeq x, L5, L12",
                "jset #0x80000000, L12, L11 becomes jge #0x80000000, L12, L11"}));
  EXPECT_GT(missed(program, derive_cases(program, {.steps = 0}).inputs).size(), 20u);
}

// A bit of the first test affects the result only if the input passes all later tests, too.
TEST(ProgramCases, PassWholeChainsOfTests) {
  const Program program = assemble(
      "ld [0]\njge #10, bad, low\nlow: jge #9, nine, bad\n"
      "nine: ld [16]\njeq #0x1111, one, bad\none: ld [24]\njeq #0x2222, two, bad\n"
      "two: ld [32]\njeq #0x3333, three, bad\nthree: ld [40]\njeq #0x4444, good, bad\n"
      "good: ret #0x7fff0000\nbad: ret #0\n");
  EXPECT_EQ(missed(program, derive_cases(program).inputs),
            (std::vector<std::string>{"jge #9, L3, L12 becomes jeq #9, L3, L12"}));
}

// If a mutant's jump skips the load at its target, the next tests compare the wrong word. An input
// shows this only if that word equals one of their constants.
TEST(ProgramCases, KillMutantsThatSkipALoad) {
  const Program program = assemble(
      "ld [0]\njeq #0x9999, nine, rest\nnine: ld [32]\njeq #0x4040, good, rest\n"
      "rest: ld [0]\njeq #0x1357, good, more\nmore: jeq #0x2468, good, bad\n"
      "good: ret #0x7fff0000\nbad: ret #0\n");
  const auto skips = [&](const Cases& cases) {
    const auto list = missed(program, cases.inputs);
    return std::ranges::count(list, "jeq #0x4040, L7, L4 becomes jeq #0x4040, L7, L5");
  };
  EXPECT_EQ(skips(derive_cases(program, {.steps = 0})), 1);
  EXPECT_EQ(skips(derive_cases(program)), 0);
}

// The search does not repeat what known inputs show, and continues from them.
TEST(ProgramCases, StartFromKnownInputs) {
  // The first test compares a computed value, so the search cannot guess the word.
  const Program program = assemble(
      "ld [0]\nxor #0x12345678\nadd #0x9abcdef\njeq #0x1, in, bad\nin: ld [16]\njeq #77, good, "
      "bad\n"
      "good: ret #1\nbad: ret #0");
  SeccompData key = call(Arch::kX86_64, (1u - 0x9abcdefu) ^ 0x12345678u);
  const auto good = [&](const Cases& cases) {
    return std::ranges::any_of(cases.inputs,
                               [&](const auto& data) { return run(program, data) == 1; });
  };
  EXPECT_FALSE(good(derive_cases(program)));
  EXPECT_TRUE(good(derive_cases(program, {}, std::vector{key})));
  const Cases all = derive_cases(program, {}, std::vector{key});
  const Cases again = derive_cases(program, {}, all.inputs);
  const std::size_t without = derive_cases(program, {.steps = 0}).inputs.size();
  EXPECT_GT(all.inputs.size(), without + 10);
  EXPECT_LE(again.inputs.size(), without + 3);
}

TEST(ProgramCases, StopAfterTheLimitOfSteps) {
  const Program program = assemble(kFilter);
  const std::size_t none = derive_cases(program, {.steps = 0}).inputs.size();
  const std::size_t some = derive_cases(program, {.steps = 3000}).inputs.size();
  const std::size_t all = derive_cases(program).inputs.size();
  EXPECT_LT(none, some);
  EXPECT_LT(some, all);
  EXPECT_LT(all, none + 1000);
}

}  // namespace
}  // namespace secequiv::inputs_cases_program_test
