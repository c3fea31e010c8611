// Tests which steps two traces share and where they part.
#include "harness/compare/common_steps.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::common_steps_test {
namespace {

CommonSteps compared(const std::string& before, const std::string& after, const SeccompData& data) {
  const Program a = assemble(before);
  const Program b = assemble(after);
  return common_steps(a, trace(a, data), b, trace(b, data));
}

SeccompData call(std::uint32_t nr) {
  SeccompData out;
  out.set_nr(nr);
  return out;
}

using Parting = std::array<std::size_t, 2>;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(CommonSteps, TracesPartAtATestAndNotAtTheReturnAfterIt) {
  const auto found = compared("ld [0]\njeq #3, y, n\ny: ret #0x7fff0000\nn: ret #0\n",
                              "ld [0]\njgt #2, y, n\ny: ret #0x7fff0000\nn: ret #0\n", call(5));
  EXPECT_EQ(found.parting, (Parting{1, 1}));
  EXPECT_EQ(found.pairs, (Pairs{{0, 0}}));
}

// The mistake is in the test, not at the last instruction, where many paths may end.
TEST(CommonSteps, TracesPartAtACommonTestThatLeadsElsewhere) {
  const std::string before = "ld [0]\njeq #3, y, n\ny: ret #0x7fff0000\nn: ret #0\n";
  const std::string swapped = "ld [0]\njeq #3, n, y\ny: ret #0x7fff0000\nn: ret #0\n";
  EXPECT_EQ(compared(before, swapped, call(3)).parting, (Parting{1, 1}));
  EXPECT_EQ(compared(before, swapped, call(5)).parting, (Parting{1, 1}));
  const std::string jumps = "ld [0]\njeq #3, j, y\nj: ja n\ny: ret #0x7fff0000\nn: ret #0\n";
  EXPECT_EQ(compared(before, jumps, call(3)).parting, (Parting{1, 1}));
}

TEST(CommonSteps, TracesPartAtAReturnThatOnlyOneProgramHas) {
  const auto found = compared("ld [0]\njeq #3, y, n\ny: ret #0x7fff0000\nn: ret #0\n",
                              "ld [0]\njeq #3, y, n\ny: ret #0x50001\nn: ret #0\n", call(3));
  EXPECT_EQ(found.parting, (Parting{2, 2}));
}

// The first program has a test for 7, which the second one lacks.
TEST(CommonSteps, TracesPartWhereATestIsMissing) {
  const std::string rest = "jeq #8, y\njeq #9, y\njeq #10, y\nn: ret #0\ny: ret #0x7fff0000\n";
  const auto found =
      compared("ld [0]\njeq #1, y\njeq #7, y\n" + rest, "ld [0]\njeq #1, y\n" + rest, call(7));
  EXPECT_EQ(found.parting, (Parting{2, 2}));
}

TEST(CommonSteps, TracesWithEqualResultsPartNowhere) {
  const auto found = compared("ld [0]\nst M[0]\nret #0\n", "ld [0]\nret #0\n", call(9));
  EXPECT_FALSE(found.parting);
  EXPECT_EQ(found.pairs, (Pairs{{0, 0}, {2, 1}}));
}

TEST(CommonSteps, VeryLongTracesAreComparedAtBothEnds) {
  std::string one = "ld [0]\n";
  std::string two = "ld [0]\n";
  for (int i = 0; i < 4200; ++i) {
    one += "ld [16]\n";
    two += "ld [20]\n";
  }
  const auto found = compared(one + "ld [0]\nret #0\n", two + "ld [0]\nret #1\n", call(9));
  EXPECT_EQ(found.pairs, (Pairs{{0, 0}}));
  EXPECT_EQ(found.parting, (Parting{1, 1}));
}

}  // namespace
}  // namespace secequiv::common_steps_test
