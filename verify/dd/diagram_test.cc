#include "verify/dd/diagram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "harness/base/random.h"

namespace secequiv::dd::diagram_test {
namespace {

using Input = std::array<std::uint32_t, 3>;

std::uint32_t evaluate(Diagrams& diagrams, NodeId at, const Input& input) {
  while (!diagrams.is_leaf(at)) {
    const std::uint32_t level = diagrams.level(at);
    at = diagrams.cofactor(at, level, (input[level / 32] >> (31 - level % 32) & 1) != 0);
  }
  return diagrams.node(at).pattern;
}

// Returns a random function of three words, with leaves 0..leaves-1 and few distinct tests.
NodeId random_diagram(Random& random, Diagrams& diagrams, std::uint32_t leaves) {
  constexpr std::array kAll = {Comparison::kEq, Comparison::kGt, Comparison::kGe,
                               Comparison::kAnyBit};
  std::vector<NodeId> nodes;
  for (std::uint32_t i = 0; i < leaves; ++i) nodes.push_back(diagrams.leaf(i));
  for (int i = 0; i < 8; ++i) {
    const auto k = static_cast<std::uint32_t>(random.below(16));
    nodes.push_back(diagrams.test(random.pick(kAll), static_cast<std::uint32_t>(random.below(3)),
                                  random.one_in(3) ? 0xfffffff5 : 0xffffffff, k, random.pick(nodes),
                                  random.pick(nodes)));
  }
  return nodes.back();
}

Input small_input(Random& random) {
  Input input{};
  for (std::uint32_t& word : input)
    word = static_cast<std::uint32_t>(random.below(16)) ^
           (random.one_in(8) ? 1u << random.below(32) : 0);
  return input;
}

TEST(Diagrams, ChooseMergeAndSubstituteMatchEvaluation) {
  Random random(31);
  for (int round = 0; round < 500; ++round) {
    Diagrams diagrams(1 << 20);
    const NodeId condition = random_diagram(random, diagrams, 2);
    const NodeId f = random_diagram(random, diagrams, 4);
    const NodeId g = random_diagram(random, diagrams, 4);
    const NodeId chosen = diagrams.choose(condition, f, g);
    const NodeId merged = diagrams.merge(f, g, [&](NodeId a, NodeId b) {
      return diagrams.leaf(diagrams.node(a).pattern * 10 + diagrams.node(b).pattern);
    });
    const NodeId replaced = diagrams.substitute(
        f, [&](NodeId leaf) { return diagrams.node(leaf).pattern < 2 ? leaf : g; });
    const NodeId filled = diagrams.otherwise(f, g);
    const auto level = static_cast<std::uint32_t>(random.below(96));
    const bool bit = random.one_in(2);
    const NodeId restricted = diagrams.restrict(f, level, bit);
    for (int trial = 0; trial < 50; ++trial) {
      Input input = small_input(random);
      const std::uint32_t a = evaluate(diagrams, f, input);
      const std::uint32_t b = evaluate(diagrams, g, input);
      ASSERT_EQ(evaluate(diagrams, chosen, input),
                evaluate(diagrams, condition, input) != 0 ? a : b);
      ASSERT_EQ(evaluate(diagrams, merged, input), a * 10 + b);
      ASSERT_EQ(evaluate(diagrams, filled, input), a != 0 ? a : b);
      ASSERT_EQ(evaluate(diagrams, replaced, input), a < 2 ? a : b);
      const std::uint32_t got = evaluate(diagrams, restricted, input);
      const std::uint32_t mask = 1u << (31 - level % 32);
      input[level / 32] = bit ? input[level / 32] | mask : input[level / 32] & ~mask;
      ASSERT_EQ(got, evaluate(diagrams, f, input));
    }
    // Equal functions are the same node, however they were built.
    ASSERT_EQ(diagrams.choose(condition, f, f), f);
    ASSERT_EQ(diagrams.negate(diagrams.negate(condition)), condition);
    ASSERT_EQ(diagrams.choose(diagrams.negate(condition), g, f), chosen);
    ASSERT_EQ(diagrams.choose(condition, diagrams.choose(condition, f, g), g), chosen);
    ASSERT_EQ(diagrams.substitute(f, [](NodeId leaf) { return leaf; }), f);
  }
}

TEST(Diagrams, HugeTimeoutIsNoLimit) {
  for (const double seconds : {1e10, std::numeric_limits<double>::max()}) {
    Diagrams diagrams(1 << 20, kNoStepLimit, seconds);
    const NodeId both = diagrams.both(diagrams.literal(0), diagrams.literal(1));
    EXPECT_EQ(evaluate(diagrams, both, {0xc0000000, 0, 0}), 1);
    EXPECT_FALSE(diagrams.exhausted());
  }
}

TEST(Diagrams, PiecesMatchEvaluation) {
  Random random(32);
  for (int round = 0; round < 1000; ++round) {
    Diagrams diagrams(1 << 20);
    std::vector<Piece> pieces;
    std::vector<std::uint32_t> firsts = {0};
    for (std::size_t count = random.below(12); count > 0; --count)
      firsts.push_back(random.one_in(2) ? static_cast<std::uint32_t>(random.below(40))
                                        : random.word());
    std::ranges::sort(firsts);
    const auto last = std::ranges::unique(firsts);
    firsts.erase(last.begin(), last.end());
    // The pieces divide word 0, and some of their values test word 0 again.
    const std::array values = {diagrams.leaf(0), diagrams.leaf(1),
                               random_diagram(random, diagrams, 3),
                               random_diagram(random, diagrams, 3)};
    for (const std::uint32_t first : firsts) pieces.push_back({first, random.pick(values)});
    const NodeId built = diagrams.pieces(0, pieces);
    NodeId one_by_one = pieces[0].value;
    for (const Piece& piece : pieces)
      one_by_one =
          diagrams.test(Comparison::kGe, 0, 0xffffffff, piece.first, piece.value, one_by_one);
    ASSERT_EQ(built, one_by_one);
    for (int trial = 0; trial < 30; ++trial) {
      Input input = small_input(random);
      if (random.one_in(2))
        input[0] = random.pick(firsts) - static_cast<std::uint32_t>(random.below(2));
      std::size_t at = pieces.size() - 1;
      while (pieces[at].first > input[0]) --at;
      ASSERT_EQ(evaluate(diagrams, built, input), evaluate(diagrams, pieces[at].value, input));
    }
  }
}

TEST(Diagrams, TestMatchesEvaluation) {
  // Checks every comparison against plain evaluation. The tested word comes before, among and after
  // the words that the two children test.
  Random random(25);
  constexpr std::array kAll = {Comparison::kEq, Comparison::kGt, Comparison::kGe,
                               Comparison::kAnyBit};
  for (int round = 0; round < 400; ++round) {
    Diagrams diagrams(1 << 20);
    struct Made {
      Comparison test;
      std::uint32_t position, mask, k;
      std::size_t yes, no;
    };
    std::vector<Made> made;
    std::vector<NodeId> nodes = {diagrams.leaf(0), diagrams.leaf(1), diagrams.leaf(2)};
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t mask = random.one_in(2) ? 0xffffffff : random.word() | random.word();
      const std::uint32_t k =
          random.one_in(2) ? random.word() & mask : static_cast<std::uint32_t>(random.below(4));
      made.push_back({random.pick(kAll), static_cast<std::uint32_t>(random.below(3)), mask, k,
                      random.below(nodes.size()), random.below(nodes.size())});
      const Made& m = made.back();
      nodes.push_back(diagrams.test(m.test, m.position, m.mask, m.k, nodes[m.yes], nodes[m.no]));
    }
    for (int trial = 0; trial < 60; ++trial) {
      Input input{};
      for (std::uint32_t& word : input) {
        word = random.word();
        if (random.one_in(2))
          word =
              made[random.below(made.size())].k ^ (random.one_in(2) ? 1u << random.below(32) : 0);
      }
      std::vector<std::uint32_t> value = {0, 1, 2};
      for (const Made& m : made) {
        const std::uint32_t a = input[m.position] & m.mask;
        const bool yes = m.test == Comparison::kEq   ? a == m.k
                         : m.test == Comparison::kGt ? a > m.k
                         : m.test == Comparison::kGe ? a >= m.k
                                                     : (a & m.k) != 0;
        value.push_back(value[yes ? m.yes : m.no]);
      }
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        ASSERT_EQ(evaluate(diagrams, nodes[i], input), value[i]);
      }
    }
  }
}

}  // namespace
}  // namespace secequiv::dd::diagram_test
