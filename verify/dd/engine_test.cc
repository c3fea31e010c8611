#include "verify/dd/engine.h"

#include <gtest/gtest.h>

#include "harness/base/random.h"
#include "harness/bpf/check.h"
#include "harness/bpf/testing.h"
#include "harness/optimize/pass.h"
#include "harness/policy/compile.h"
#include "harness/policy/random_policy.h"
#include "verify/dd/diagram.h"
#include "verify/dd/random_comparisons.h"

namespace secequiv::dd {
namespace {

Proof prove_text(std::string_view before, std::string_view after, const Limits& limits = {}) {
  auto proof = prove(Pair{assemble(before), assemble(after), Sameness::kRaw}, limits);
  EXPECT_TRUE(proof) << (proof ? "" : proof.error().text());
  return proof ? *proof : Proof{};
}

SeccompData words(std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> set) {
  SeccompData data;
  for (const auto& [word, value] : set) data.words[word] = value;
  return data;
}

std::vector<InputWords> nearby(Random& random, ProgramView program, std::size_t count) {
  std::vector<std::uint32_t> constants = {0, 1, 0xffffffff};
  for (const Insn& in : program)
    if (is_conditional(in)) constants.insert(constants.end(), {in.k - 1, in.k, in.k + 1});
  std::vector<InputWords> out(count);
  for (InputWords& input : out)
    for (std::uint32_t& word : input)
      word = random.one_in(3)
                 ? random.word()
                 : random.pick(constants) ^ (random.one_in(4) ? 1u << random.below(32) : 0);
  return out;
}

TEST(DdProve, DecidesWhatComparisonsDo) {
  EXPECT_EQ(prove_text("ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n",
                       "ld [0]\njge #5, y, n\nn: ret #2\ny: ret #1\n")
                .verdict,
            Verdict::kEquivalent);
  EXPECT_EQ(prove_text("ld [8]\nand #0xf0\njeq #0, y, n\ny: ret #1\nn: ret #2\n",
                       "ld [8]\njset #0xf0, n, y\nn: ret #2\ny: ret #1\n")
                .verdict,
            Verdict::kEquivalent);
  const auto proof = prove_text(
      "ret #1\n", "ld [0]\njlt #0x100, n\nld [32]\njeq #7, y, n\ny: ret #2\nn: ret #1\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_TRUE(proof.minimal);
  EXPECT_EQ(proof.witness->data, words({{0, 0x100}, {8, 7}}));
}

TEST(DdProve, FewestWordsBeatSmallestValues) {
  const auto proof = prove_text(
      "ret #0\n",
      "ld [24]\njeq #0xffffffff, y, n\nn: ld [16]\njeq #1, m, r\nm: ld [20]\njeq #1, y, r\n"
      "y: ret #1\nr: ret #0\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data, words({{6, 0xffffffff}}));
}

TEST(DdProve, OnePointOfAllIsFound) {
  std::string after;
  SeccompData point;
  for (std::uint32_t word = 0; word < 16; ++word) {
    point.words[word] = 0x9e3779b9u * (word + 1);
    after += "ld [" + std::to_string(word * 4) + "]\njne #" + std::to_string(point.words[word]) +
             ", same\n";
  }
  const auto proof = prove_text("ret #1\n", after + "ret #2\nsame: ret #1\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data, point);
}

TEST(DdProve, SaysWhatIsOutside) {
  const auto arithmetic =
      prove_text("ld [0]\nadd #1\njeq #5, y, n\ny: ret #1\nn: ret #2\n", "ret #2\n");
  EXPECT_EQ(arithmetic.verdict, Verdict::kUnknown);
  EXPECT_NE(arithmetic.detail.find("instruction 2"), std::string::npos) << arithmetic.detail;
  EXPECT_EQ(prove_text("ld [0]\nret a\n", "ret #2\n").verdict, Verdict::kUnknown);
  EXPECT_EQ(prove_text("ldx #1\ndiv x\nret #2\n", "ret #2\n").verdict, Verdict::kUnknown);
}

TEST(DdProve, TheNodeLimitGivesUnknown) {
  std::string text = "ld [0]\n";
  for (int i = 0; i < 60; ++i) text += "jeq #" + std::to_string(i * i * 7919) + ", y\n";
  text += "ret #0\ny: ret #1\n";
  const auto proof = prove_text(text, "ret #0\n", Limits{.nodes = 30});
  EXPECT_EQ(proof.verdict, Verdict::kUnknown);
  EXPECT_NE(proof.detail.find("node limit"), std::string::npos) << proof.detail;
}

TEST(DdProve, OptimizedFormsAreTheSameNode) {
  Random random(21);
  for (int i = 0; i < 3000; ++i) {
    const Program before = comparing_program(random, random.between(2, 60));
    ASSERT_FALSE(check(before));
    auto proof = prove(Pair{before, optimize(before).program, Sameness::kRaw});
    ASSERT_TRUE(proof);
    if (proof->verdict == Verdict::kUnknown) continue;  // A differs where paths meet
    ASSERT_EQ(proof->verdict, Verdict::kEquivalent) << asm_text(before);
  }
}

TEST(DdProve, NoInputTellsProvenPairsApart) {
  Random random(23);
  for (int i = 0; i < 1500; ++i) {
    const Program before = comparing_program(random, random.between(2, 40));
    Program after = before;
    after[random.below(after.size())].k ^= 1u << random.below(32);
    if (check(after)) continue;
    const Pair pair{before, after, Sameness::kRaw};
    auto proof = prove(pair);
    ASSERT_TRUE(proof) << proof.error().text();
    if (proof->verdict != Verdict::kEquivalent) continue;
    for (const InputWords& input : nearby(random, before, 200))
      ASSERT_FALSE(replay(pair, SeccompData{input})) << asm_text(before) << "\n" << asm_text(after);
  }
}

TEST(DdProve, CompiledPolicies) {
  Random random(24);
  for (int i = 0; i < 60; ++i) {
    const Program before = compile(random_policy(random));
    const Program after = optimize(before).program;
    auto proof = prove(Pair{before, after, Sameness::kRaw});
    ASSERT_TRUE(proof);
    ASSERT_EQ(proof->verdict, Verdict::kEquivalent) << proof->detail;
  }
}

TEST(Diagrams, TheTestIsWhatItSays) {
  // Every comparison, on words that stand before, at and after those the two sides test, against
  // plain evaluation.
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
      std::array<std::uint32_t, 3> input{};
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
        NodeId at = nodes[i];
        while (!diagrams.is_leaf(at)) {
          const std::uint32_t level = diagrams.node(at).level;
          at = diagrams.cofactor(at, level, (input[level / 32] >> (31 - level % 32) & 1) != 0);
        }
        ASSERT_EQ(diagrams.node(at).pattern, value[i]);
      }
    }
  }
}

}  // namespace
}  // namespace secequiv::dd
