#include "verify/dd/engine.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <span>
#include <utility>

#include "harness/base/random.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/generate/random_program.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "verify/dd/random_comparisons.h"

namespace secequiv::dd::engine_test {
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

Program list_of(std::span<const std::pair<std::uint32_t, std::uint32_t>> entries) {
  Program out = {{kLdWAbs, 0, 0, 0}};
  for (const auto& [value, action] : entries)
    out.insert(out.end(), {{kJeqK, 0, 1, value}, {kRetK, 0, 0, action}});
  out.push_back({kRetK, 0, 0, 0x7fff0000});
  return out;
}

// The first test of a value has precedence, in lists of every length and order.
TEST(Engine, ListsMayRepeatValuesInAnyOrder) {
  Random random(3);
  for (const std::size_t length : {40u, 500u, 511u, 512u, 513u, 1000u})
    for (const bool large : {false, true}) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
      std::map<std::uint32_t, std::uint32_t> first;
      while (entries.size() < length) {
        std::uint32_t value = random.pick(std::array{0u, 0xffffffffu, 0x80000000u});
        if (!random.one_in(50))
          value = large ? random.word() : static_cast<std::uint32_t>(random.below(2 * length));
        entries.emplace_back(value, 0x50000 + static_cast<std::uint32_t>(random.below(3)));
        first.insert(entries.back());
      }
      const std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted(first.begin(), first.end());
      const auto proof = prove(Pair{list_of(entries), list_of(sorted), Sameness::kRaw});
      ASSERT_TRUE(proof);
      EXPECT_EQ(proof->verdict, Verdict::kEquivalent) << length;
      auto& [value, action] = entries[random.below(entries.size())];
      action = first[value] == 0x50002 ? 0x50000 : 0x50002;
      const auto before = std::exchange(first, {});
      for (const auto& entry : entries) first.insert(entry);
      const bool same = first == before;
      const auto changed = prove(Pair{list_of(entries), list_of(sorted), Sameness::kRaw});
      ASSERT_TRUE(changed);
      EXPECT_EQ(changed->verdict, same ? Verdict::kEquivalent : Verdict::kDifferent) << length;
      if (!same) EXPECT_EQ(changed->witness->data.words[0], value) << length;
    }
}

std::vector<SeccompData> nearby(Random& random, ProgramView program, std::size_t count) {
  std::vector<std::uint32_t> constants = {0, 1, 0xffffffff};
  for (const Insn& in : program)
    if (is_conditional(in)) constants.insert(constants.end(), {in.k - 1, in.k, in.k + 1});
  std::vector<SeccompData> out(count);
  for (SeccompData& input : out)
    for (std::uint32_t& word : input.words)
      word = random.one_in(3)
                 ? random.word()
                 : random.pick(constants) ^ (random.one_in(4) ? 1u << random.below(32) : 0);
  return out;
}

TEST(DdProve, DecidesComparisons) {
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

TEST(DdProve, PrefersFewNonZeroWordsToSmallValues) {
  const auto proof = prove_text(
      "ret #0\n",
      "ld [24]\njeq #0xffffffff, y, n\nn: ld [16]\njeq #1, m, r\nm: ld [20]\njeq #1, y, r\n"
      "y: ret #1\nr: ret #0\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data, words({{6, 0xffffffff}}));
}

TEST(DdProve, FindsSingleDifferingInput) {
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

TEST(DdProve, DecidesArithmeticAndRegisters) {
  struct Case {
    const char* before;
    const char* after;
    Verdict verdict;
  };
  constexpr Verdict kSame = Verdict::kEquivalent;
  constexpr Verdict kOther = Verdict::kDifferent;
  const Case cases[] = {
      {"ld [0]\nadd #1\nsub #1\nret a\n", "ld [0]\nret a\n", kSame},
      {"ld [0]\nmul #5\nret a\n", "ld [0]\ntax\nlsh #2\nadd x\nret a\n", kSame},
      {"ld [0]\nmul #5\nret a\n", "ld [0]\ntax\nlsh #1\nadd x\nret a\n", kOther},
      {"ld [0]\ndiv #16\nret a\n", "ld [0]\nrsh #4\nret a\n", kSame},
      {"ld [0]\ndiv #3\nmul #3\nret a\n", "ld [0]\nret a\n", kOther},
      {"ld [0]\ndiv #3\njeq #2, y, n\ny: ret #1\nn: ret #0\n",
       "ld [0]\njge #6, m, n\nm: jgt #8, n, y\ny: ret #1\nn: ret #0\n", kSame},
      {"ld [0]\ndiv #0x80000001\nret a\n", "ld [0]\njge #0x80000001, y, n\ny: ret #1\nn: ret #0\n",
       kSame},
      {"ld [0]\nneg\nret a\n", "ld [0]\nxor #0xffffffff\nadd #1\nret a\n", kSame},
      {"ld #len\nret a\n", "ret #64\n", kSame},
      {"ldx #1\ndiv x\nret #2\n", "ret #2\n", kSame},
      {"ld [0]\ntax\nld #9\ndiv x\nret #2\n", "ld [0]\njeq #0, z\nret #2\nz: ret #0\n", kSame},
      {"ld [0]\ntax\nld #9\ndiv x\nret #2\n", "ret #2\n", kOther},
      {"ld [16]\ntax\nld [24]\nadd x\nret a\n", "ld [24]\ntax\nld [16]\nadd x\nret a\n", kSame},
      {"ld [16]\ntax\nld [24]\nsub x\nret a\n", "ld [24]\ntax\nld [16]\nsub x\nret a\n", kOther},
      {"ld [16]\ntax\nld [40]\njge x, y, n\ny: ret #1\nn: ret #0\n",
       "ld [40]\ntax\nld [16]\njgt x, n, y\ny: ret #1\nn: ret #0\n", kSame},
      {"ld [16]\nst M[3]\nld #0\nldx M[3]\ntxa\nret a\n", "ld [16]\nret a\n", kSame},
      {"ld [16]\ntax\nld #1\nlsh x\nret a\n", "ld [16]\nand #31\ntax\nld #1\nlsh x\nret a\n",
       kSame},
      // A differs where the paths meet.
      {"ld [0]\njeq #5, y, n\ny: ld #1\nja j\nn: ld #2\nj: add #1\nret a\n",
       "ld [0]\njeq #5, y, n\ny: ret #2\nn: ret #3\n", kSame},
      {"ld [0]\njeq #5, y, n\ny: ld #1\nja j\nn: ld #2\nj: add #1\nret a\n",
       "ld [0]\njeq #4, y, n\ny: ret #2\nn: ret #3\n", kOther},
  };
  for (const Case& c : cases) {
    const Proof proof = prove_text(c.before, c.after);
    EXPECT_EQ(proof.verdict, c.verdict) << c.before << "\n" << c.after;
    if (c.verdict == kOther) EXPECT_TRUE(proof.minimal);
  }
}

TEST(DdProve, ProductOfTwoWordsExceedsLimits) {
  const char* squares = "ld [16]\ntax\nld [24]\nmul x\njeq #77, y, n\ny: ret #1\nn: ret #2\n";
  const auto proof = prove_text(squares, "ret #2\n", Limits{.nodes = 5000});
  EXPECT_EQ(proof.verdict, Verdict::kUnknown);
  EXPECT_NE(proof.detail.find("limit"), std::string::npos) << proof.detail;
  EXPECT_EQ(prove_text(squares, "ret #2\n", Limits{.steps = 5000}).verdict, Verdict::kUnknown);
  // Only the time limit ends this proof.
  const Limits impatient{.nodes = kNoStepLimit, .steps = kNoStepLimit, .seconds = 0.05};
  EXPECT_EQ(prove_text(squares, "ret #2\n", impatient).verdict, Verdict::kUnknown);
}

TEST(DdProve, NodeLimitGivesUnknown) {
  std::string text = "ld [0]\n";
  for (int i = 0; i < 60; ++i) text += "jeq #" + std::to_string(i * i * 7919) + ", y\n";
  text += "ret #0\ny: ret #1\n";
  const auto proof = prove_text(text, "ret #0\n", Limits{.nodes = 30});
  EXPECT_EQ(proof.verdict, Verdict::kUnknown);
  EXPECT_NE(proof.detail.find("limit of nodes"), std::string::npos) << proof.detail;
}

TEST(DdProve, ProvesOptimizedPrograms) {
  Random random(21);
  for (int i = 0; i < 3000; ++i) {
    const Program before = comparing_program(random, random.between(2, 60));
    ASSERT_FALSE(refusal_of(before));
    auto proof = prove(Pair{before, optimize(before).program, Sameness::kRaw});
    ASSERT_TRUE(proof);
    ASSERT_EQ(proof->verdict, Verdict::kEquivalent) << asm_text(before);
  }
  int decided = 0;
  for (int i = 0; i < 1000; ++i) {
    const Program before = random_program(random, random.between(1, 32));
    auto proof = prove(Pair{before, optimize(before).program, Sameness::kRaw},
                       Limits{.nodes = 100'000, .steps = 500'000});
    ASSERT_TRUE(proof);
    ASSERT_NE(proof->verdict, Verdict::kDifferent) << asm_text(before);
    decided += proof->verdict == Verdict::kEquivalent ? 1 : 0;
  }
  EXPECT_GE(decided, 970);
}

TEST(DdProve, ProvenPairsAgreeOnInputs) {
  Random random(23);
  for (int i = 0; i < 1500; ++i) {
    const Program before = comparing_program(random, random.between(2, 40));
    Program after = before;
    after[random.below(after.size())].k ^= 1u << random.below(32);
    if (refusal_of(after)) continue;
    const Pair pair{before, after, Sameness::kRaw};
    auto proof = prove(pair);
    ASSERT_TRUE(proof) << proof.error().text();
    if (proof->verdict != Verdict::kEquivalent) continue;
    for (const SeccompData& input : nearby(random, before, 200))
      ASSERT_FALSE(replay(pair, input)) << asm_text(before) << "\n" << asm_text(after);
  }
}

TEST(DdProve, ProvesOptimizedPolicies) {
  Random random(24);
  for (int i = 0; i < 60; ++i) {
    const Program before = compile(random_policy(random));
    const Program after = optimize(before).program;
    auto proof = prove(Pair{before, after, Sameness::kRaw});
    ASSERT_TRUE(proof);
    ASSERT_EQ(proof->verdict, Verdict::kEquivalent) << proof->detail;
  }
}

}  // namespace
}  // namespace secequiv::dd::engine_test
