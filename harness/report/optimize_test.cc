// Tests the text of passes and steps.
#include "harness/report/optimize.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace secequiv::report_optimize_test {
namespace {

TEST(OptimizeReport, StepsThatChangedNothingAreLeftOut) {
  const PassStep steps[] = {{"sort", Pass::Kind::kRules, 1, 12, 10, true},
                            {"idle", Pass::Kind::kBytecode, 1, 9, 9, false},
                            {"thread-jumps", Pass::Kind::kBytecode, 2, 170, 150, true}};
  EXPECT_EQ(steps_text(steps),
            "round 1 sort                           12 -> 10 matchers\n"
            "round 2 thread-jumps                  170 -> 150 instructions\n");
}

TEST(OptimizeReport, EveryPassHasALine) {
  const std::string text = passes_text("--passes");
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')), all_passes().size());
  EXPECT_NE(text.find("layout    single-tree"), std::string::npos);
  EXPECT_NE(text.find(" It runs only if --passes names it.\n"), std::string::npos);
}

}  // namespace
}  // namespace secequiv::report_optimize_test
