// Cases derived from a program alone.
#include <gtest/gtest.h>

#include <set>

#include "harness/bpf/testing.h"
#include "harness/coverage/coverage.h"
#include "harness/generate/random_program.h"
#include "harness/policy/cases.h"
#include "harness/policy/testing.h"

namespace secequiv {
namespace {

bool has(const Cases& cases, const SeccompData& data) {
  return std::find(cases.inputs.begin(), cases.inputs.end(), data) != cases.inputs.end();
}

const char* const kFilter =
    "ld [4]\njeq #0xc000003e, on, bad\n"
    "on: ld [0]\njeq #257, openat, more\nmore: jge #400, bad, good\n"
    "openat: ld [36]\njeq #1, low, bad\nlow: ld [32]\njset #0x40, bad, good\n"
    "good: ret #0x7fff0000\nbad: ret #0\n";

TEST(ProgramCases, NumbersArchitecturesAndWords) {
  const Cases cases = derive_cases(assemble(kFilter));
  for (const std::uint32_t nr : {0u, 256u, 257u, 258u, 399u, 400u, 401u, 0xffffffffu})
    EXPECT_TRUE(has(cases, call(Arch::kX86_64, nr))) << nr;
  for (const std::uint32_t audit :
       {AUDIT_ARCH_X86_64 - 1, AUDIT_ARCH_X86_64 + 1, 0u, 0xffffffffu}) {
    SeccompData data = call(Arch::kX86_64, 257);
    data.set_arch(audit);
    EXPECT_TRUE(has(cases, data)) << audit;
  }
  // The argument's words meet their constants under the number and architecture tested on the way.
  for (const std::uint64_t v :
       {0x100000000ull, 0x100000040ull, 0x40ull, 0x200000040ull, 0x1ffffffffull})
    EXPECT_TRUE(has(cases, call(Arch::kX86_64, 257, {0, 0, v}))) << std::hex << v;
}

TEST(ProgramCases, CoverAStraightforwardFilter) {
  const Program program = assemble(kFilter);
  CoverageMap coverage(program);
  for (const SeccompData& data : derive_cases(program).inputs) coverage.run(data.words);
  EXPECT_TRUE(coverage.uncovered().empty()) << describe(coverage.uncovered().front(), program);
}

TEST(ProgramCases, DeterministicDistinctAndBounded) {
  Random random(71);
  for (int i = 0; i < 200; ++i) {
    const Program program = random_program(random, random.between(1, 80));
    const CaseLimits limits{.per_syscall = 200, .total = 3000};
    const Cases cases = derive_cases(program, limits);
    EXPECT_EQ(cases.inputs, derive_cases(program, limits).inputs);
    EXPECT_LE(cases.inputs.size(), 3000u);
    EXPECT_GE(cases.inputs.size(), 1u);
    std::set<InputWords> distinct;
    for (const SeccompData& data : cases.inputs) EXPECT_TRUE(distinct.insert(data.words).second);
  }
}

TEST(ProgramCases, WhatIsLeftOutIsCounted) {
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

}  // namespace
}  // namespace secequiv
