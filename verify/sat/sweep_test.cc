#include "verify/sat/sweep.h"

#include <gtest/gtest.h>

#include "harness/base/random.h"

namespace secequiv::sat {
namespace {

constexpr std::uint32_t kInputBits = 9;

// A random graph over the lowest bits of one word, and the value of each bit for every input.
struct RandomGraph {
  Bits graph;
  std::vector<BitGraph::Bool> bits;
  std::vector<std::vector<bool>> values;

  explicit RandomGraph(std::uint64_t seed) {
    Random random(seed);
    for (std::uint32_t bit = 0; bit < kInputBits; ++bit) {
      bits.push_back(graph.input(0, bit));
      values.emplace_back();
      for (std::uint32_t input = 0; input < 1U << kInputBits; ++input)
        values.back().push_back((input >> bit & 1) != 0);
    }
    for (int i = 0; i < 60; ++i) {
      const std::size_t a = random.below(bits.size());
      const std::size_t b = random.below(bits.size());
      const std::size_t c = random.below(bits.size());
      const std::size_t kind = random.below(4);
      bits.push_back(kind == 0   ? graph.both(bits[a], -bits[b])
                     : kind == 1 ? graph.either(bits[a], bits[b])
                     : kind == 2 ? graph.differ(bits[a], bits[b])
                                 : graph.choose(bits[a], bits[b], bits[c]));
      std::vector<bool> made;
      for (std::size_t at = 0; at < values.front().size(); ++at) {
        const bool x = values[a][at];
        const bool y = values[b][at];
        made.push_back(kind == 0   ? x && !y
                       : kind == 1 ? x || y
                       : kind == 2 ? x != y
                                   : (x ? y : values[c][at]));
      }
      values.push_back(std::move(made));
    }
  }
};

// possible() would decide all of these without merge_below(), so the test calls merge_below().
TEST(Sweep, AgreesWithAllInputs) {
  int impossible = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomGraph made(seed);
    // Conjunctions of several bits are often impossible, but not obviously so.
    Random random(seed + 1000);
    std::vector<std::pair<BitGraph::Bool, std::vector<bool>>> goals;
    for (int i = 0; i < 12; ++i) {
      BitGraph::Bool goal = 1;
      std::vector<bool> values(1U << kInputBits, true);
      for (int part = 0; part < 4; ++part) {
        const std::size_t at = random.below(made.bits.size());
        const bool negated = random.one_in(2);
        goal = made.graph.both(goal, negated ? -made.bits[at] : made.bits[at]);
        for (std::size_t input = 0; input < values.size(); ++input)
          values[input] = values[input] && made.values[at][input] != negated;
      }
      goals.emplace_back(goal, std::move(values));
    }
    const std::vector<Inputs> likely{{0}};
    const std::vector<std::uint32_t> constants{0};
    Sweep sweep(made.graph, likely, constants, [] { return false; });
    for (const auto& [goal, values] : goals) {
      sweep.merge_below(goal, 1000);
      const bool expected = std::ranges::find(values, true) != values.end();
      const Answer answer = sweep.possible(goal);
      ASSERT_EQ(answer, expected ? Answer::kYes : Answer::kNo) << seed;
      if (expected)
        EXPECT_TRUE(values[sweep.example()[0] & ((1U << kInputBits) - 1)]) << seed;
      else
        ++impossible;
    }
  }
  EXPECT_GE(impossible, 50);
}

TEST(Sweep, AStoppedSweepDecidesNothing) {
  Bits graph;
  BitGraph::Bool goal = 1;
  for (std::uint32_t bit = 0; bit < 32; ++bit) goal = graph.both(goal, graph.input(bit, bit));
  const std::vector<Inputs> likely{Inputs(32, 0)};
  const std::vector<std::uint32_t> constants{0};
  Sweep sweep(graph, likely, constants, [] { return true; });
  EXPECT_EQ(sweep.possible(goal), Answer::kUnknown);
}

}  // namespace
}  // namespace secequiv::sat
