#include "verify/decide.h"

#include <gtest/gtest.h>

#include "harness/bpf/check.h"
#include "harness/bpf/random_program.h"
#include "harness/bpf/testing.h"
#include "verify/dd/engine.h"
#include "verify/dd/random_comparisons.h"
#include "verify/smt/solver.h"

namespace secequiv {
namespace {

constexpr const char* kAbove4 = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom5 = "ld [0]\njge #5, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom6 = "ld [0]\njge #6, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kProduct =
    "ld [16]\ntax\nld [24]\nmul x\njeq #6, y, n\ny: ret #1\nn: ret #2\n";

Proof decided(std::string_view before, std::string_view after, Engine engine) {
  auto proof = decide(Pair{assemble(before), assemble(after), Sameness::kRaw}, engine,
                      {.timeout_seconds = 20});
  EXPECT_TRUE(proof) << (proof ? "" : proof.error().text());
  return proof ? *proof : Proof{};
}

TEST(Decide, NamesWhoDecided) {
  EXPECT_EQ(decided(kAbove4, kFrom5, Engine::kZ3).engine, "z3");
  EXPECT_EQ(decided(kAbove4, kFrom5, Engine::kDd).engine, "dd");
  EXPECT_EQ(decided(kAbove4, kFrom5, Engine::kBoth).engine, "dd and z3");
  for (const Engine engine : {Engine::kZ3, Engine::kDd, Engine::kBoth}) {
    EXPECT_EQ(decided(kAbove4, kFrom5, engine).verdict, Verdict::kEquivalent);
    const Proof different = decided(kAbove4, kFrom6, engine);
    ASSERT_EQ(different.verdict, Verdict::kDifferent);
    EXPECT_EQ(different.witness->data.nr(), 5u);
  }
}

TEST(Decide, DiagramsHandOverWhatExceedsTheirLimits) {
  const Budget tight{.timeout_seconds = 20, .diagrams = {.nodes = 100}};
  const Pair pair{assemble(kProduct), assemble("ret #2\n"), Sameness::kRaw};
  auto proof = decide(pair, Engine::kDd, tight);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->engine, "z3");
  ASSERT_EQ(proof->verdict, Verdict::kDifferent);
}

TEST(Decide, BothNeedsBothForAnEquivalence) {
  const Budget tight{.timeout_seconds = 20, .diagrams = {.nodes = 100}};
  const Pair same{assemble(kProduct), assemble(kProduct), Sameness::kRaw};
  auto proof = decide(same, Engine::kBoth, tight);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->verdict, Verdict::kUnknown);
  EXPECT_NE(proof->detail.find("z3 alone says: equivalent"), std::string::npos) << proof->detail;
  const Pair other{assemble(kProduct), assemble("ret #2\n"), Sameness::kRaw};
  proof = decide(other, Engine::kBoth, tight);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->verdict, Verdict::kDifferent);
}

TEST(Engines, AgreeOnMutants) {
  Random random(22);
  int equivalent = 0;
  int different = 0;
  for (int i = 0; i < 1200; ++i) {
    // Half of them use every instruction.
    const Program before = i % 2 == 0 ? dd::comparing_program(random, random.between(2, 30))
                                      : random_program(random, random.between(1, 20));
    Program after = before;
    for (std::size_t changes = random.between(1, 2); changes > 0; --changes) {
      Insn& in = after[random.below(after.size())];
      if (in.code == kLdWAbs || is_jump(in) != is_conditional(in)) continue;
      in.k ^= 1u << random.below(32);
    }
    if (check(after)) continue;
    const Pair pair{before, after, Sameness::kRaw};
    auto mine = dd::prove(pair, {.nodes = 100'000, .steps = 500'000});
    ASSERT_TRUE(mine) << mine.error().text();
    if (mine->verdict == Verdict::kUnknown) continue;
    auto theirs = smt::prove(pair, 5);
    ASSERT_TRUE(theirs);
    if (theirs->verdict == Verdict::kUnknown) continue;
    ASSERT_EQ(mine->verdict, theirs->verdict) << asm_text(before) << "\n" << asm_text(after);
    equivalent += mine->verdict == Verdict::kEquivalent;
    different += mine->verdict == Verdict::kDifferent;
    if (mine->verdict != Verdict::kDifferent || !theirs->minimal) continue;
    ASSERT_TRUE(mine->minimal);
    ASSERT_EQ(mine->witness->data, theirs->witness->data) << asm_text(before) << "\n"
                                                          << asm_text(after);
  }
  EXPECT_GE(equivalent, 50);
  EXPECT_GE(different, 50);
}

}  // namespace
}  // namespace secequiv
