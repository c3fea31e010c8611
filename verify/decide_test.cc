#include "verify/decide.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "verify/dd/engine.h"
#include "verify/dd/random_comparisons.h"
#include "verify/smt/solver.h"

namespace secequiv {
namespace {

constexpr const char* kAbove4 = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom5 = "ld [0]\njge #5, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom6 = "ld [0]\njge #6, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kArithmetic = "ld [0]\nadd #1\njgt #5, y, n\ny: ret #1\nn: ret #2\n";

Proof decided(std::string_view before, std::string_view after, Engine engine) {
  auto proof = decide(Pair{assemble(before), assemble(after), Sameness::kRaw}, engine, 20);
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

TEST(Decide, DiagramsHandOverWhatTheyDoNotHandle) {
  // nr + 1 > 5 wraps at nr = 0xffffffff, so it is not nr > 4.
  const Proof proof = decided(kArithmetic, kAbove4, Engine::kDd);
  EXPECT_EQ(proof.engine, "z3");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data.nr(), 0xffffffffu);
}

TEST(Decide, BothNeedsBothForAnEquivalence) {
  const Proof proof = decided(kArithmetic, kArithmetic, Engine::kBoth);
  EXPECT_EQ(proof.verdict, Verdict::kUnknown);
  EXPECT_NE(proof.detail.find("z3 alone says: equivalent"), std::string::npos) << proof.detail;
  EXPECT_EQ(decided(kArithmetic, kAbove4, Engine::kBoth).verdict, Verdict::kDifferent);
}

TEST(Engines, AgreeOnMutants) {
  Random random(22);
  int equivalent = 0;
  int different = 0;
  for (int i = 0; i < 800; ++i) {
    const Program before = dd::comparing_program(random, random.between(2, 30));
    Program after = before;
    for (std::size_t changes = random.between(1, 2); changes > 0; --changes) {
      Insn& in = after[random.below(after.size())];
      if (in.code == kLdWAbs) continue;
      in.k ^= 1u << random.below(32);
    }
    const Pair pair{before, after, Sameness::kRaw};
    auto mine = dd::prove(pair);
    auto theirs = smt::prove(pair, 20);
    ASSERT_TRUE(mine) << mine.error().text();
    ASSERT_TRUE(theirs);
    if (mine->verdict == Verdict::kUnknown) continue;
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
