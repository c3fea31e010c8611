// Tests which input is the first to meet each obligation, and when the search ends.
#include "harness/coverage/first_input.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/interrupt.h"
#include "harness/bpf/testing.h"

namespace secequiv::coverage_first_input_test {
namespace {

const Program kProgram = assemble("ld [0]\njeq #1, y, n\ny: ret #1\nn: ret #0\n");

std::vector<SeccompData> numbers(std::initializer_list<std::uint32_t> all) {
  std::vector<SeccompData> out(all.size());
  std::size_t at = 0;
  for (const std::uint32_t nr : all) out[at++].set_nr(nr);
  return out;
}

TEST(FirstInputs, CountsOverAllCalls) {
  FirstInputs first(kProgram);
  first.run(numbers({7, 8}));
  EXPECT_EQ(first.of({1, Obligation::Kind::kTrue}), FirstInputs::kNone);
  first.run(numbers({9, 1, 1}));
  EXPECT_EQ(first.of({0, Obligation::Kind::kLine}), 0u);
  EXPECT_EQ(first.of({1, Obligation::Kind::kFalse}), 0u);
  EXPECT_EQ(first.of({1, Obligation::Kind::kTrue}), 3u);
  EXPECT_EQ(first.all(), (std::vector<std::uint32_t>{0, 3}));
  EXPECT_FALSE(first.complete()) << "the number of feasible obligations is not given";
}

TEST(FirstInputs, EndsOnceEverythingFeasibleIsMet) {
  FirstInputs first(kProgram, 4);  // without the true outcome and its return
  first.run(numbers({7, 1}));
  EXPECT_TRUE(first.complete());
  EXPECT_EQ(first.of({1, Obligation::Kind::kTrue}), FirstInputs::kNone) << "input 1 was not run";
}

// Runs in its own process, because a request to stop cannot be withdrawn.
TEST(FirstInputsDeathTest, NoInputIsRunAfterAnInterrupt) {
  const auto stopped = [] {
    want_stop();
    FirstInputs first(kProgram);
    first.run(numbers({7, 1}));
    std::exit(first.all().empty() ? 0 : 1);
  };
  EXPECT_EXIT(stopped(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace secequiv::coverage_first_input_test
