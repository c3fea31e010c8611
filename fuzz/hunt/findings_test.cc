// Tests which failures the findings reduce, in which order, and how few requests explain one. The
// code under test is a function, so that each request is counted.
#include "fuzz/hunt/findings.h"

#include <gtest/gtest.h>

#include "fuzz/hunt/testing.h"
#include "harness/bpf/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::hunt::findings_test {
namespace {

class FindingsTest : public ::testing::Test {
 protected:
  FindingsTest() {
    report_.kind = "optimizer";
    options_.seconds = 1e9;
  }

  static Program filled(std::size_t size, Insn with) {
    Program out(size, with);
    out.push_back({kRetA, 0, 0, 0});
    return out;
  }

  Finding failing(Program program) {
    return findings_.finding({}, {"a test", {}, std::move(program)}, 1, 0);
  }

  void take(Program program) { EXPECT_TRUE(findings_.take(failing(std::move(program)))); }

  void try_long_programs(std::size_t size) {
    const HuntSubject subject = {"a test", {}, filled(size - 1, {kAddK, 0, 0, 1})};
    for (int i = 0; i < 1000; ++i) findings_.tried(subject);
  }

  // Sends the subject `steps_` times, and returns the finding as it is.
  Result<Finding> reduce(const Finding& finding, const Wanted& wanted) {
    reduced_.push_back(finding.subject.before.size());
    for (std::size_t i = 0; i < steps_; ++i) (void)wanted(finding.subject);
    return finding;
  }

  HuntReport report_;
  HuntOptions options_;
  std::vector<std::size_t> reduced_;  // the sizes of the programs
  std::size_t steps_ = 1;
  std::size_t requests_ = 0;
  std::function<Shown(ProgramView)> answer_ = [](ProgramView) { return Shown::kNothing; };
  Findings findings_{
      report_,
      options_,
      {[this](Finding& finding) {
         ++requests_;
         return answer_(finding.subject.before);
       },
       [this](const Finding& finding, const Wanted& wanted) { return reduce(finding, wanted); },
       [](const Finding&) { return [](ProgramView) { return false; }; }}};
};

constexpr Insn kNegate = {kNeg, 0, 0, 0};

TEST_F(FindingsTest, OneRequestExplainsAProgramWithManyOccurrences) {
  answer_ = [](ProgramView p) { return has(p, kNeg) ? Shown::kProblem : Shown::kRight; };
  findings_.add(failing(filled(1, kNegate)));
  take(filled(30, kNegate));
  EXPECT_EQ(requests_, 1u);
  ASSERT_EQ(report_.findings.size(), 1u);
  EXPECT_EQ(report_.findings[0].count, 2u);
  EXPECT_TRUE(reduced_.empty());
}

TEST_F(FindingsTest, IfTakingOutAllOccurrencesShowsNothingOneIsTakenOut) {
  answer_ = [](ProgramView p) {
    return has(p, kNeg) && p.front() != kNegate ? Shown::kRight : Shown::kNothing;
  };
  findings_.add(failing(filled(1, kNegate)));
  take(filled(2, kNegate));
  ASSERT_EQ(report_.findings.size(), 1u);
  EXPECT_EQ(report_.findings[0].count, 2u);
  EXPECT_TRUE(reduced_.empty());
}

// Returns a program with a pattern of its own.
Program starting_with(std::uint16_t code, std::size_t size) {
  Program out(size - 1, Insn{kAddK, 0, 0, 1});
  out.front().code = code;
  out.push_back({kRetA, 0, 0, 0});
  return out;
}

TEST_F(FindingsTest, ReductionsSpendAsManyInstructionsAsTrials) {
  steps_ = 1000;
  take(starting_with(kNeg, 3000));
  ASSERT_EQ(reduced_, std::vector<std::size_t>{3000}) << "the first one of its kind";
  steps_ = 1;
  take(starting_with(kLshX, 800));
  take(starting_with(kRshX, 12));
  take(starting_with(kMulX, 400));
  EXPECT_EQ(reduced_.size(), 1u);
  // Waiting programs are reduced in the order of their length.
  try_long_programs(2510);
  take(starting_with(kDivX, 600));
  EXPECT_EQ(reduced_, (std::vector<std::size_t>{3000, 12}))
      << "the longer ones may exceed the budget";
  try_long_programs(200);
  take(starting_with(kSubX, 900));
  EXPECT_EQ(reduced_, (std::vector<std::size_t>{3000, 12, 400, 600, 800, 900}));
}

TEST_F(FindingsTest, ProgramsWithoutKnownPatternsComeFirst) {
  findings_.add(failing({{kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  steps_ = 1000;
  take(starting_with(kNeg, 3000));
  steps_ = 1;
  take(starting_with(kTxa, 5));
  take(starting_with(kLshX, 50));
  EXPECT_EQ(reduced_.size(), 1u);
  try_long_programs(3000);
  take(starting_with(kRshX, 60));
  EXPECT_EQ(reduced_, (std::vector<std::size_t>{3000, 50, 60, 5}));
}

TEST_F(FindingsTest, EveryKnownPatternIsTakenOutOfALongProgram) {
  findings_.add(failing(filled(1, kNegate)));
  findings_.add(failing(filled(1, {kTxa, 0, 0, 0})));
  HuntSubject subject = {"a test", {}, filled(100, kNegate)};
  subject.before.insert(subject.before.begin(), Insn{kTxa, 0, 0, 0});
  ASSERT_TRUE(findings_.take_known_out_of(subject, 1, false));
  EXPECT_FALSE(has(subject.before, kNeg));
  EXPECT_FALSE(has(subject.before, kTxa));
  EXPECT_FALSE(findings_.take_known_out_of(subject, 3, false)) << "nothing is left to take out";
}

TEST_F(FindingsTest, AFindingThatMayBeKnownStaysSoIfItShowsALooserProgram) {
  answer_ = [](ProgramView program) {
    return has(program, kNeg) ? Shown::kProblem : Shown::kRight;
  };
  Finding open = failing(filled(1, kNegate));
  open.may_be_known = true;
  open.failure = false;
  open.witness = Witness{{}, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS};
  EXPECT_FALSE(findings_.add(open));
  Finding looser = failing(filled(2, kNegate));
  looser.witness = Witness{{}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW};
  EXPECT_TRUE(findings_.take(looser));
  ASSERT_EQ(report_.findings.size(), 1u) << shown(report_);
  EXPECT_EQ(report_.findings[0].witness->after, SECCOMP_RET_ALLOW);
  EXPECT_TRUE(report_.findings[0].may_be_known);
  EXPECT_FALSE(report_.findings[0].failure);
}

TEST_F(FindingsTest, ACertainFailureMakesAFindingThatMayBeKnownNew) {
  answer_ = [](ProgramView program) {
    return has(program, kNeg) ? Shown::kProblem : Shown::kRight;
  };
  Finding open = failing({kNegate, {kTax, 0, 0, 0}, {kRetA, 0, 0, 0}});
  open.may_be_known = true;
  open.failure = false;
  EXPECT_FALSE(findings_.add(open));
  EXPECT_FALSE(findings_.failed());
  EXPECT_TRUE(findings_.take(failing(filled(1, kNegate))));
  ASSERT_EQ(report_.findings.size(), 1u) << shown(report_);
  EXPECT_TRUE(report_.findings[0].failure);
  EXPECT_FALSE(report_.findings[0].may_be_known);
  EXPECT_TRUE(findings_.failed());
}

TEST_F(FindingsTest, APatternThatExplainsSeveralFindingsMergesThem) {
  const auto fails = [](ProgramView p) { return has(p, kNeg) ? Shown::kProblem : Shown::kRight; };
  findings_.add(failing({kNegate, {kTxa, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  findings_.add(failing({kNegate, {kLshX, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  findings_.add(failing({{kMulX, 0, 0, 0}, {kRshX, 0, 0, 0}, {kRetA, 0, 0, 0}}));
  ASSERT_EQ(report_.findings.size(), 3u);
  answer_ = fails;
  take(filled(1, kNegate));
  EXPECT_EQ(report_.findings.size(), 3u) << "indices stay valid during the hunt";
  findings_.end();
  ASSERT_EQ(report_.findings.size(), 2u);
  EXPECT_EQ(report_.findings[0].count, 3u);
  EXPECT_EQ(report_.findings[0].subject.before.size(), 2u) << "the smallest one is shown";
  EXPECT_TRUE(has(report_.findings[1].subject.before, kRshX));
}

}  // namespace
}  // namespace secequiv::hunt::findings_test
