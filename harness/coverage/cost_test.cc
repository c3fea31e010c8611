#include "harness/coverage/cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "harness/bpf/testing.h"
#include "harness/coverage/coverage.h"
#include "harness/generate/random_program.h"
#include "harness/seccomp/cache.h"

namespace secequiv::coverage_cost_test {
namespace {

SeccompData call(std::uint32_t nr, std::uint32_t arg0 = 0, Arch arch = Arch::kX86_64) {
  SeccompData data;
  data.set_nr(nr);
  data.set_arch(arch_info(arch).audit);
  data.set_field(0, arg0, Endian::kLittle);
  return data;
}

// The cache allows read, which takes 3 instructions when run. write is allowed if arg0 is 1 (8
// instructions) or has bit 31 (6 instructions). close is never allowed (4 instructions).
const char* const kProgram =
    "ld [0]\njeq #0, allow, next\nnext: jeq #1, write, deny\nwrite: ld [16]\njset #0x80000000, "
    "allow, low\nlow: jeq #1, slow, deny\nslow: ja allow\nallow: ret #0x7fff0000\ndeny: ret "
    "#0x50001";

TEST(Cost, CountsExecutedInstructions) {
  const Program program = assemble(kProgram);
  EXPECT_EQ(executed(program, call(0)), 3u);
  EXPECT_EQ(executed(program, call(1, 0x80000000)), 6u);
  EXPECT_EQ(executed(program, call(1, 1)), 8u);
  EXPECT_EQ(executed(program, call(1, 2)), 7u);
  EXPECT_EQ(executed(program, call(3)), 4u);
  EXPECT_EQ(executed(assemble("ld #1\nldx #0\ndiv x\nret a"), call(0)), 3u)
      << "a division by zero ends the run";
}

// A JA by 0 and an outcome that falls through do not count as jumps.
TEST(Cost, CountsJumpsThatAreTaken) {
  const Program program = assemble(
      "ld [0]\njeq #0, same, same\nsame: jeq #1, next, far\nnext: ja on\non: ja far\nld #1\n"
      "far: ret #0x7fff0000");
  const std::vector<SyscallCount> profile = {{"read", 1}, {"write", 1}, {"open", 1}};
  const std::vector<SeccompData> inputs = {call(0), call(1)};
  const auto costs = profile_cost(program, Arch::kX86_64, profile, inputs);
  ASSERT_EQ(costs.size(), 3u);
  EXPECT_DOUBLE_EQ(costs[0].jumps, 1) << "one jump, to `far`";
  EXPECT_DOUBLE_EQ(costs[1].jumps, 1) << "one jump, from `on` to `far`";
  EXPECT_DOUBLE_EQ(costs[2].jumps, 1) << "the jump of the default input, because no input is given";
  // Both outcomes go to the same target, which is not the next instruction, so each is a jump.
  const auto always = profile_cost(assemble("ld [0]\njeq #0, y, y\nld #1\ny: ret #0x7fff0000"),
                                   Arch::kX86_64, profile, inputs);
  EXPECT_DOUBLE_EQ(always[0].jumps, 1);
  EXPECT_DOUBLE_EQ(always[1].jumps, 1);
  // With several inputs, the cost is the mean over the allowed ones.
  const auto mean = profile_cost(assemble(kProgram), Arch::kX86_64, profile,
                                 std::vector{call(1, 1), call(1, 0x80000000), call(1, 2)});
  EXPECT_DOUBLE_EQ(mean[1].jumps, (0 + 1) / 2.0);
}

TEST(Cost, WorstCaseIsTheFirstOfEquallyExpensiveInputs) {
  const Program program = assemble(kProgram);
  const std::vector<SeccompData> inputs = {call(0), call(1, 2), call(1, 3), call(3)};
  const WorstInput found = worst(std::array{ProgramView(program)}, inputs);
  EXPECT_EQ(found.instructions, 7u);
  EXPECT_EQ(found.data, call(1, 2)) << "the first of two equally expensive inputs";
  const WorstInput only = worst(std::array{ProgramView(program)}, std::span(inputs).first(1));
  EXPECT_EQ(only.instructions, 3u);
  EXPECT_EQ(only.data, call(0));
}

TEST(Cost, ProfileCostCoversAllowedInputs) {
  const Program program = assemble(kProgram);
  const std::vector<SyscallCount> profile = {
      {"write", 30}, {"read", 50}, {"nosuch", 1000}, {"close", 15}, {"open", 5}};
  const std::vector<SeccompData> inputs = {
      call(1, 1), call(1, 0x80000000), call(1, 2),  // the third input is denied
      call(0),    call(3, 1),          call(3, 2), call(1, 1, Arch::kI386)};
  const auto costs = profile_cost(program, Arch::kX86_64, profile, inputs);
  ASSERT_EQ(costs.size(), 4u);
  const auto expect = [](const CallCost& cost, const char* name, std::uint64_t calls, bool cached,
                         double mean, std::size_t least, std::size_t most,
                         std::size_t inputs_seen) {
    EXPECT_EQ(cost.name, name);
    EXPECT_EQ(cost.calls, calls) << name;
    EXPECT_EQ(cost.cached, cached) << name;
    EXPECT_DOUBLE_EQ(cost.mean, mean) << name;
    EXPECT_EQ(cost.least, least) << name;
    EXPECT_EQ(cost.most, most) << name;
    EXPECT_EQ(cost.inputs, inputs_seen) << name;
  };
  expect(costs[0], "write", 30, false, 7, 6, 8, 2);
  expect(costs[1], "read", 50, true, 3, 3, 3, 1);
  expect(costs[2], "close", 15, false, 4, 4, 4, 2);
  expect(costs[3], "open", 5, false, 4, 4, 4, 0);
  EXPECT_DOUBLE_EQ(weighted_mean(costs), (30 * 7 + 15 * 4 + 5 * 4) / 100.0);
  EXPECT_DOUBLE_EQ(weighted_mean_uncached(costs), (30 * 7 + 50 * 3 + 15 * 4 + 5 * 4) / 100.0);
  const auto i386 = profile_cost(program, Arch::kI386, profile, inputs);
  ASSERT_EQ(i386.size(), 4u);
  EXPECT_EQ(i386[0].inputs, 0u) << "on i386, write has number 4";
}

TEST(Cost, AProfileWithoutCallsCostsNothing) {
  EXPECT_EQ(weighted_mean({}), 0);
  const auto costs = profile_cost(assemble("ld [16]\nret #0x7fff0000"), Arch::kX86_64,
                                  std::vector<SyscallCount>{{"read", 0}}, {});
  EXPECT_EQ(weighted_mean(costs), 0);
  EXPECT_EQ(weighted_mean_uncached(costs), 0);
}

// The kernel runs both filters, whatever the first returns, and allows a call only if both allow
// it.
TEST(Cost, AStackCostsTheSumOfItsFilters) {
  const Program program = assemble(kProgram);
  const Program deny = assemble("ld [16]\njeq #2, no, ok\nno: ret #0x50001\nok: ret #0x7fff0000");
  const ProgramView stack[] = {deny, program};
  const std::vector<SeccompData> inputs = {call(1, 1), call(1, 2)};
  for (const SeccompData& data : inputs)
    EXPECT_EQ(executed(stack, data), executed(deny, data) + executed(program, data));
  EXPECT_EQ(worst(stack, inputs).data, call(1, 1));
  const std::vector<SyscallCount> profile = {{"write", 2}, {"read", 1}};
  const auto costs = profile_cost(stack, Arch::kX86_64, profile, inputs);
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_EQ(costs[0].inputs, 1u) << "the first filter denies the other input";
  EXPECT_EQ(costs[0].most, executed(stack, call(1, 1)));
  EXPECT_FALSE(costs[1].cached) << "the first filter reads an argument";
  const ProgramView reversed[] = {program, deny};
  EXPECT_FALSE(profile_cost(reversed, Arch::kX86_64, profile, inputs)[1].cached)
      << "the second filter reads an argument";
  const ProgramView twice[] = {program, program};
  EXPECT_TRUE(profile_cost(twice, Arch::kX86_64, profile, inputs)[1].cached);
}

// The test counts the lines that each input covers. It also compares the cached calls with the
// emulated cache.
TEST(Cost, AgreesWithCoveredLines) {
  Random random(5);
  for (int i = 0; i < 100; ++i) {
    const Program program = random_program(random, random.between(1, 40));
    std::vector<SeccompData> inputs;
    for (SeccompData& data : random_inputs(random, program, 30)) {
      data.set_arch(AUDIT_ARCH_X86_64);
      data.set_nr(random.word() % 3);
      inputs.push_back(data);
    }
    const auto costs =
        profile_cost(program, Arch::kX86_64,
                     std::vector<SyscallCount>{{"read", 3}, {"write", 2}, {"open", 1}}, inputs);
    ASSERT_EQ(costs.size(), 3u);
    double all = 0;
    for (std::uint32_t nr = 0; nr < 3; ++nr) {
      std::vector<std::size_t> allowed;
      std::vector<std::size_t> any;
      for (const SeccompData& data : inputs) {
        if (data.nr() != nr) continue;
        CoverageMap lines(program);  // programs have no loops, so each line runs at most once
        const bool allows = (lines.run(data) & 0xffff0000) == 0x7fff0000;
        const auto count = static_cast<std::size_t>(
            std::ranges::count_if(lines.obligations(), [&](const Obligation& o) {
              return o.kind == Obligation::Kind::kLine && lines.covered(o);
            }));
        any.push_back(count);
        if (allows) allowed.push_back(count);
        EXPECT_EQ(executed(program, data), count);
      }
      const auto& counts = allowed.empty() ? any : allowed;
      if (counts.empty()) continue;
      EXPECT_EQ(costs[nr].least, std::ranges::min(counts));
      EXPECT_EQ(costs[nr].most, std::ranges::max(counts));
      double sum = 0;
      for (const std::size_t c : counts) sum += static_cast<double>(c);
      EXPECT_DOUBLE_EQ(costs[nr].mean, sum / static_cast<double>(counts.size()));
      EXPECT_EQ(costs[nr].inputs, counts.size());
      EXPECT_EQ(costs[nr].cached, cacheable(program, Arch::kX86_64)[nr]);
    }
    for (const CallCost& cost : costs) all += static_cast<double>(cost.calls) * cost.mean;
    EXPECT_DOUBLE_EQ(weighted_mean_uncached(costs), all / 6);
  }
}

}  // namespace
}  // namespace secequiv::coverage_cost_test
