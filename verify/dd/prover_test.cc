#include "verify/dd/prover.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::dd::prover_test {
namespace {

TEST(Prover, NamesTheMethodThatDecided) {
  Prover prover;
  const auto engine = [&](std::string_view before, std::string_view after, Verdict verdict) {
    const auto proof = prover.prove(Pair{assemble(before), assemble(after)});
    EXPECT_TRUE(proof && proof->verdict == verdict) << before;
    return proof ? proof->engine : "";
  };
  EXPECT_EQ(engine("ld [0]\nret a\n", "ld [0]\nret a\n", Verdict::kEquivalent), "identical");
  EXPECT_EQ(engine("ldx #0\nld [0]\nret a\n", "ld [0]\nret a\n", Verdict::kEquivalent), "walk");
  EXPECT_EQ(engine("ld [0]\nxor #1\nxor #1\nret a\n", "ld [0]\nret a\n", Verdict::kEquivalent),
            "dd");
  EXPECT_EQ(engine("ret #1\n", "ld [4]\njeq #7, y, n\ny: ret #2\nn: ret #1\n", Verdict::kDifferent),
            "dd");
}

TEST(Prover, AssumptionsAndStacksNeedDiagrams) {
  const Program program = assemble("ld [0]\nret a\n");
  const Program longer = assemble("ldx #0\nld [0]\nret a\n");
  const Program other = assemble("ret #5\n");
  Prover prover;
  Question question;
  question.before = {program};
  question.after = {longer};
  question.assumption = *parse_assumption("nr == 1 && nr == 2", Arch::kX86_64);
  const auto vacuous = prover.prove(question);
  ASSERT_FALSE(vacuous);
  question.after = {program};
  EXPECT_FALSE(prover.prove(question));
  question = {};
  question.before = {program, longer};
  question.after = {program, other};
  EXPECT_EQ(prover.prove(question)->verdict, Verdict::kDifferent);
  question.after = {program, longer};
  EXPECT_EQ(prover.prove(question)->engine, "identical");
  question.after = {longer, program};
  EXPECT_EQ(prover.prove(question)->engine, "dd");
}

}  // namespace
}  // namespace secequiv::dd::prover_test
