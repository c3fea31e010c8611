// Asks kernels other than the running one: how inputs reach programs if arguments have 32 bits or
// the low half comes second, what differs between versions, and which command boots a kernel.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/bpf/testing.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/kernel/booted.h"
#include "harness/kernel/compare.h"
#include "harness/kernel/facts.h"
#include "harness/kernel/instrument.h"
#include "harness/kernel/self_check.h"
#include "harness/kernel/testing.h"

namespace secequiv::kernel::other_kernels_test {
namespace {

// Returns a program whose value depends on all words.
Program reads_every_word() {
  std::string text = "ld [0]\n";
  for (int word = 1; word < 16; ++word)
    text += "tax\nld [" + std::to_string(word * 4) + "]\nmul #31\nxor x\n";
  return assemble(text + "ret a");
}

TEST(OtherKernels, EvaluateAnyInputWithArgumentsOfEitherWidthAndByteOrder) {
  for (const Endian endian : {Endian::kLittle, Endian::kBig})
    for (const unsigned bits : {32u, 64u}) {
      InterpretedKernel kernel(endian, bits);
      Random random(1);
      for (int i = 0; i < of_cases(400); ++i) {
        const Program program =
            i == 0 ? reads_every_word() : random_program(random, 1 + random.below(60));
        const auto inputs = random_inputs(random, program, 16);
        const auto values = evaluate(program, inputs, kernel);
        ASSERT_TRUE(values) << values.error().text();
        ASSERT_EQ(*values, run_all(program, inputs)) << asm_text(program);
      }
    }
}

TEST(OtherKernels, OnlyLowHalvesCarryValuesOf32Bits) {
  using Words = std::vector<std::uint8_t>;
  EXPECT_EQ(free_words({"", 0, Endian::kLittle, 32, 0}), (Words{4, 6, 8, 10, 12, 14}));
  EXPECT_EQ(free_words({"", 0, Endian::kBig, 32, 0}), (Words{5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(free_words({"", 0, Endian::kLittle, 64, 0}).size(), 12u);
  // The wrong half would be 0 in the kernel.
  const Program program = assemble("ld [16]\ntax\nld [20]\nsub x\nret a");
  const LoadPlan plan = plan_loads(program, {}, Words{5, 7, 9, 11, 13, 15});
  EXPECT_EQ(plan.carrier[5], 5);
  EXPECT_EQ(plan.carrier[4], 7);
  EXPECT_TRUE(plan.fixed.empty());
}

TEST(OtherKernels, SharedFixedWordsNeedFewerInstallations) {
  const Program program = reads_every_word();
  Random random(2);
  auto inputs = random_inputs(random, program, 64);
  InterpretedKernel kernel(Endian::kLittle, 32);
  ASSERT_TRUE(evaluate(program, inputs, kernel));
  EXPECT_GT(kernel.installed, 3u * 50);
  const LoadPlan plan = plan_loads(program, inputs, free_words(kernel.entries().front()));
  EXPECT_EQ(plan.fixed.size(), 10u);
  share_fixed_words(inputs, plan, 4);
  kernel.installed = 0;
  const auto values = evaluate(program, inputs, kernel);
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, run_all(program, inputs));
  EXPECT_LE(kernel.installed, 3u * 4);
}

TEST(OtherKernels, RealCallsShowWhatTheEntryShows) {
  for (const Endian endian : {Endian::kLittle, Endian::kBig}) {
    InterpretedKernel kernel(endian, 32);
    const Entry& entry = kernel.entries().front();
    const Program program = reads_every_word();
    Random random(3);
    auto inputs = random_inputs(random, program, 64);
    for (SeccompData& input : inputs) input = presented(input, entry, InterpretedKernel::kPointer);
    EXPECT_EQ(inputs[0].arch(), AUDIT_ARCH_ARM);
    EXPECT_EQ(inputs[0].field(kIpField, endian), InterpretedKernel::kPointer);
    EXPECT_EQ(inputs[0].field(0, endian) >> 32, 0u);
    const auto values = evaluate_direct(program, inputs, entry, kernel);
    ASSERT_TRUE(values) << values.error().text();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      EXPECT_EQ((*values)[i], run(program, inputs[i]));
  }
}

TEST(OtherKernels, SomeArchitecturesChangeNumbersAndArguments) {
  EXPECT_EQ(number_seen(AUDIT_ARCH_S390X, 0x12345678, 1), 0x5678u);
  EXPECT_EQ(number_seen(AUDIT_ARCH_AARCH64, 0x12345678, 1), 0x12345678u);
  constexpr std::uint32_t kMips = 8;
  for (const std::uint32_t audit : {kMips, AUDIT_ARCH_MIPS64}) {
    EXPECT_EQ(number_seen(audit, 4000, 0x1234567800000014), 20u);
    EXPECT_EQ(number_seen(audit, 4001, 20), 4001u);
    EXPECT_TRUE(sees_stack(audit, 4000));
    EXPECT_EQ(sees_stack(audit, 4001), audit == AUDIT_ARCH_MIPS64);
    EXPECT_FALSE(sees_stack(audit, 3999));
    EXPECT_FALSE(sees_stack(audit, 5000));
  }
  EXPECT_EQ(number_seen(AUDIT_ARCH_ARM, 4000, 20), 4000u);
  EXPECT_FALSE(sees_stack(AUDIT_ARCH_ARM, 4000));
  EXPECT_EQ(argument_seen(kMips, 0x1234567880000000), 0xffffffff80000000);
  EXPECT_EQ(argument_seen(kMips, 0x1234567870000000), 0x70000000u);
  EXPECT_EQ(argument_seen(AUDIT_ARCH_ARM, 0x1234567880000000), 0x80000000u);
  EXPECT_TRUE(bypasses_filters(AUDIT_ARCH_X86_64, 335));
  EXPECT_FALSE(bypasses_filters(AUDIT_ARCH_AARCH64, 335));
}

TEST(OtherKernels, OldVersionsLackWhatTheModelHas) {
  EXPECT_TRUE(lacking("6.18.5").empty());
  EXPECT_TRUE(lacking("5.11").empty());
  EXPECT_TRUE(lacking("odd").empty());
  ASSERT_EQ(lacking("5.10.0-19-s390x").size(), 1u);
  EXPECT_EQ(lacking("4.19").size(), 3u);
  EXPECT_EQ(lacking("3.16.84").size(), facts().size());
}

TEST(OtherKernels, ASelfCheckNamesTheKernel) {
  InterpretedKernel kernel(Endian::kBig, 32);
  SelfCheckOptions options;
  options.kernel = &kernel;
  options.programs = 400;
  const auto report = self_check(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(report->program);
  EXPECT_EQ(report->release, "4.9.0-fake");
  EXPECT_EQ(report->booted_as, "fake");
  EXPECT_GT(report->evaluations, 1000u);
}

TEST(OtherKernels, ACommandBootsAKernel) {
  using Words = std::vector<std::string>;
  const auto words = [](const std::string& name) { return *boot_command(name, "/k"); };
  EXPECT_EQ(words("s390x"), (Words{"/k", "serve", "s390x"}));
  EXPECT_EQ(words("arm64@5.10"), (Words{"/k", "serve", "arm64", "--version", "5.10"}));
  EXPECT_EQ(words("serve:ssh host guest"), (Words{"/bin/sh", "-c", "ssh host guest"}));
  for (const char* wrong : {"", "s390x@", "@5.10", "../x", "serve:", "serve: "})
    EXPECT_EQ(boot_command(wrong, "/k").error().code, ErrorCode::kUsage) << wrong;
  EXPECT_EQ(boot_command("s390x", "").error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace secequiv::kernel::other_kernels_test
