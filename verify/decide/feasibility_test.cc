#include "verify/decide/feasibility.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "verify/dd/reach.h"

namespace secequiv::decide_feasibility_test {
namespace {

using Answer = Feasibility::Answer;

TEST(Feasibility, EnginesAgreeOnEveryObligation) {
  Random random(51);
  int infeasible = 0;
  int feasible = 0;
  for (int i = 0; i < 250; ++i) {
    const Program program = random_program(random, random.between(1, 16));
    CoverageMap coverage(program);
    for (const SeccompData& input : random_inputs(random, program, 50)) coverage.run(input);
    Budget budget;
    budget.diagrams = {.nodes = 100'000, .steps = 500'000};
    FeasibilityDecider both(program, Engine::kBoth, budget);
    FeasibilityDecider mine(program, Engine::kDd, budget);
    for (const Obligation& obligation : coverage.obligations()) {
      auto answer = both.query(obligation, 5);
      ASSERT_TRUE(answer) << answer.error().text() << "\n" << asm_text(program);
      infeasible += answer->answer == Answer::kInfeasible ? 1 : 0;
      feasible += answer->answer == Answer::kFeasible ? 1 : 0;
      ASSERT_FALSE(answer->answer == Answer::kInfeasible && coverage.covered(obligation));
      if (answer->answer != Answer::kUnknown)
        ASSERT_EQ(mine.query(obligation, 5)->answer, answer->answer);
    }
  }
  EXPECT_GE(infeasible, 300);
  EXPECT_GE(feasible, 1500);
}

TEST(Feasibility, EdgeInputsMeetEveryFeasibleObligation) {
  Random random(52);
  for (int i = 0; i < 200; ++i) {
    const Program program = random_program(random, random.between(1, 20));
    const auto inputs = dd::edge_inputs(program, {.nodes = 100'000, .steps = 500'000});
    if (!inputs) continue;
    CoverageMap coverage(program);
    for (const SeccompData& input : *inputs) {
      const std::size_t before = coverage.covered_count();
      coverage.run(input);
      ASSERT_GT(coverage.covered_count(), before) << asm_text(program);
    }
    FeasibilityDecider oracle(program, Engine::kDd, {});
    for (const Obligation& obligation : coverage.uncovered())
      ASSERT_EQ(oracle.query(obligation, 5)->answer, Answer::kInfeasible) << asm_text(program);
  }
  EXPECT_FALSE(
      dd::edge_inputs(assemble("ld [0]\njeq #5, y\ny: ret #1\n"), {.nodes = 1, .steps = 1}));
}

TEST(Feasibility, JumpWithOneTargetHasTwoOutcomes) {
  const Program program = assemble("ld [0]\njeq #5, y\ny: ret #1\n");
  const Program never = assemble("ld #4\njeq #5, y\ny: ret #1\n");
  for (const Engine engine : {Engine::kDd, Engine::kZ3, Engine::kBoth}) {
    FeasibilityDecider some(program, engine, {});
    EXPECT_EQ(some.query({1, Obligation::Kind::kTrue}, 5)->witness->nr(), 5u);
    FeasibilityDecider none(never, engine, {});
    EXPECT_EQ(none.query({1, Obligation::Kind::kTrue}, 5)->answer, Answer::kInfeasible);
    EXPECT_EQ(none.query({1, Obligation::Kind::kFalse}, 5)->answer, Answer::kFeasible);
  }
}

TEST(Feasibility, SolverTakesOverBeyondDiagramLimits) {
  const Program program =
      assemble("ld [16]\ntax\nld [24]\nmul x\njeq #6, y, n\ny: ret #1\nn: ret #2\n");
  Budget tight;
  tight.diagrams = {.nodes = 100};
  FeasibilityDecider oracle(program, Engine::kDd, tight);
  EXPECT_EQ(oracle.query({5, Obligation::Kind::kLine}, 20)->answer, Answer::kFeasible);
}

TEST(Feasibility, BothEnginesMustProveInfeasibility) {
  const Program program =
      assemble("ld [16]\ntax\nld [24]\nmul x\nand #0xfff0\njeq #8, y, n\ny: ret #1\nn: ret #2\n");
  Budget tight;
  tight.diagrams = {.nodes = 100};
  FeasibilityDecider one(program, Engine::kDd, tight);
  EXPECT_EQ(one.query({5, Obligation::Kind::kTrue}, 20)->answer, Answer::kInfeasible);
  FeasibilityDecider both(program, Engine::kBoth, tight);
  const auto unconfirmed = both.query({5, Obligation::Kind::kTrue}, 20);
  EXPECT_EQ(unconfirmed->answer, Answer::kUnknown);
  EXPECT_EQ(unconfirmed->detail, dd::exhausted_text());
  EXPECT_EQ(both.query({5, Obligation::Kind::kFalse}, 20)->answer, Answer::kFeasible)
      << "a witness that was run needs no confirmation";
}

}  // namespace
}  // namespace secequiv::decide_feasibility_test
