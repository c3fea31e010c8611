// Tests that the running kernel confirms true findings and contradicts invented ones.
#include "analyze/guard_try.h"

#include <gtest/gtest.h>

#include "analyze/guard.h"
#include "harness/bpf/text.h"
#include "harness/kernel/testing.h"
#include "harness/seccomp/arch.h"

namespace secequiv::guard_try_test {
namespace {

// Refuses socket(38) if all 64 bits match.
std::vector<Source> stack_of(const std::string& before = "") {
  const std::string text =
      before + "ld [0]\njeq #" + std::to_string(*syscall_nr(kTestHost, "socket")) +
      ", low, ok\nlow: ld [16]\njeq #38, high, ok\nhigh: ld [20]\njeq #0, no, ok\n"
      "ok: ret #0x7fff0000\nno: ret #0x50001\n";
  auto program = read_program(text, "test");
  EXPECT_TRUE(program) << program.error().text();
  return {Source{.name = "test", .program = *program, .policy = {}}};
}

GuardReport report_on(const std::vector<Source>& stack) {
  auto found = guard({.stack = {"test", stack}, .host = kTestHost});
  EXPECT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->holes.size(), 1u);
  return *found;
}

TEST(GuardTry, TheKernelConfirmsAHole) {
  const auto stack = stack_of();
  GuardReport report = report_on(stack);
  const Status done = try_holes(stack, report);
  ASSERT_TRUE(done) << done.error().text();
  if (!report.holes[0].answers) GTEST_SKIP() << report.holes[0].not_run;
  EXPECT_EQ(report.holes[0].answers->refused.text(), "EPERM");
  EXPECT_EQ(report.holes[0].answers->allowed, report.holes[0].answers->unfiltered);
  EXPECT_FALSE(report.holes[0].answers->alike());
}

TEST(GuardTry, AFindingThatTheKernelContradictsIsAnInternalError) {
  const auto stack = stack_of();
  const GuardReport good = report_on(stack);
  const auto status_of = [&](const auto& change) {
    GuardReport report = good;
    change(report.holes[0]);
    return try_holes(stack, report);
  };
  const Status value = status_of([](SplitReport& hole) { hole.refused_value = 0x50002; });
  if (value) GTEST_SKIP() << "calls cannot be tried here";
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kInternal);
  // Inputs that the kernel tells apart: socket(AF_UNIX, SOCK_STREAM) runs.
  EXPECT_FALSE(status_of([](SplitReport& hole) {
    hole.allowed.set_field(0, 1, Endian::kLittle);
    hole.allowed.set_field(1, 1, Endian::kLittle);
  }));
  // Both inputs are refused.
  EXPECT_FALSE(status_of([](SplitReport& hole) { hole.allowed = hole.refused; }));
}

TEST(GuardTry, FiltersThatCannotBeTriedHaveAReason) {
  const auto pointer = stack_of("ld [12]\n");
  GuardReport report = report_on(pointer);
  ASSERT_TRUE(try_holes(pointer, report));
  EXPECT_EQ(report.holes[0].not_run,
            "the filter looks at the instruction pointer, which is another one here");
  std::string padding;
  for (int i = 0; i < 4096; ++i) padding += "ld [0]\n";
  const auto long_stack = stack_of(padding);
  report = report_on(long_stack);
  ASSERT_TRUE(try_holes(long_stack, report));
  EXPECT_EQ(report.holes[0].not_run,
            "the filter has 4104 instructions, more than the 4096 that the kernel accepts; use a "
            "shorter one (`optimize`)");
  EXPECT_FALSE(report.holes[0].answers);
}

}  // namespace
}  // namespace secequiv::guard_try_test
