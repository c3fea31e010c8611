#include "verify/smt/foreign.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::smt::foreign_test {
namespace {

using Kind = ForeignAnswer::Kind;

constexpr const char* kAbove4 = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom5 = "ld [0]\njge #5, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom6 = "ld [0]\njge #6, y, n\ny: ret #1\nn: ret #2\n";

TEST(ReadForeign, ReadsEveryFormOfValues) {
  const std::vector<std::string> names = {"word0", "word1", "$fd"};
  const auto answer = read_foreign(
      "success\n; a comment (\nsat\n((word1 #b00000000000000000000000000000101)\n (|$fd| "
      "#xfFffffff) "
      "(word0 (_ bv4294967294 32)))\n",
      names);
  ASSERT_EQ(answer.kind, Kind::kSat) << answer.problem;
  EXPECT_EQ(answer.values, (std::vector<std::uint32_t>{0xfffffffe, 5, 0xffffffff}));
  EXPECT_EQ(read_foreign("unsat\n", {}).kind, Kind::kUnsat);
  EXPECT_EQ(read_foreign(" sat", {}).kind, Kind::kSat);
}

TEST(ReadForeign, AcceptsNoOtherText) {
  const std::vector<std::string> names = {"word0"};
  for (const char* text :
       {"", "unknown", "unsupported", "unsupported\nunsat", "unsat\nsat", "unsat\n(error \"no\")",
        "(error \"line 1: unsat\")", "unsatisfiable", "\"unsat\"", "(unsat)", "timeout", ")", "((",
        "|unsat", "\"", "Segmentation fault"}) {
    EXPECT_EQ(read_foreign(text, {}).kind, Kind::kUnknown) << text;
    EXPECT_FALSE(read_foreign(text, {}).problem.empty()) << text;
    EXPECT_EQ(read_foreign(text, names).kind, Kind::kUnknown) << text;
  }
  for (const char* values :
       {"", "()", "((word0))", "((word0 5))", "((word0 #x5))", "((word0 #x000000005))",
        "((word0 #xggggggggg))", "((word0 #x-0000001))", "((word0 #b2))", "((word0 (_ bv5 64)))",
        "((word0 (_ bv4294967296 32)))", "((word0 (_ bv 32)))", "((word0 (- 5)))",
        "((other #x00000005))", "((word0 #x00000005) (word0 #x00000006))", "(word0 #x00000005)",
        "((word0 #x00000005)) more", "((word0 #x00000005)", "((((((((((((((((((((((word0"}) {
    const auto answer = read_foreign(std::string("sat\n") + values, names);
    EXPECT_EQ(answer.kind, Kind::kUnknown) << values;
    EXPECT_FALSE(answer.problem.empty()) << values;
  }
}

// Returns a command that answers `sat`, and these values if the query asks for them.
std::string with_values(std::uint32_t nr, const std::string& more = {}) {
  std::string values = fmt::format("(word0 #x{:08x})", nr);
  for (int i = 1; i < 16; ++i) values += fmt::format(" (word{} (_ bv0 32))", i);
  return fmt::format("echo sat; if grep -q get-value; then echo '({}{})'; fi", values, more);
}

Proof proven(const std::string& command, const char* after, double seconds = 20,
             Question::Goal goal = Question::Goal::kSame) {
  const Pair pair{assemble(kAbove4), assemble(after), Sameness::kRaw};
  Question question(pair);
  question.goal = goal;
  auto proof = prove_by({command}, question, seconds);
  EXPECT_TRUE(proof) << (proof ? "" : proof.error().text());
  return proof ? *proof : Proof{};
}

TEST(ForeignSolver, AnswersNameTheSolverAndModelsAreReplayed) {
  const Proof same = proven("echo unsat", kFrom5);
  EXPECT_EQ(same.verdict, Verdict::kEquivalent);
  EXPECT_EQ(same.engine, "smt:echo unsat");
  const Proof different = proven(with_values(5), kFrom6);
  ASSERT_EQ(different.verdict, Verdict::kDifferent) << different.detail;
  EXPECT_EQ(different.witness->data.nr(), 5u);
  EXPECT_FALSE(different.minimal);
}

TEST(ForeignSolver, AModelThatDoesNotReplayGivesNoVerdict) {
  for (const char* after : {kFrom5, kFrom6}) {
    const Proof wrong = proven(with_values(7), after);
    EXPECT_EQ(wrong.verdict, Verdict::kUnknown);
    EXPECT_FALSE(wrong.witness);
    EXPECT_NE(wrong.detail.find("this solver is wrong"), std::string::npos) << wrong.detail;
  }
  const Proof moody = proven("if grep -q get-value; then echo unsat; else echo sat; fi", kFrom6);
  EXPECT_EQ(moody.verdict, Verdict::kUnknown);
}

TEST(ForeignSolver, AnyOtherEndIsUnknownWithItsReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"echo unknown", "it answers 'unknown'"},
      {"echo unsat; exit 1", "it exited with status 1"},
      {"echo unsat; kill -SEGV $$", "signal 11"},
      {"true", "printed nothing"},
      {"echo unsat; echo unsat", "found 'unsat"},
      {"echo unsupported", "found 'unsupported"},
      {"no-such-solver --lang smt2", "not found"},
      {"cat", "found '(set-option"},
      {"yes", "bytes"}};
  for (const auto& [command, reason] : cases) {
    const Proof proof = proven(command, kFrom5);
    EXPECT_EQ(proof.verdict, Verdict::kUnknown) << command;
    EXPECT_NE(proof.detail.find(reason), std::string::npos) << command << ": " << proof.detail;
  }
  const Proof late = proven("sleep 1000", kFrom5, 0.05);
  EXPECT_EQ(late.verdict, Verdict::kUnknown);
  EXPECT_EQ(late.detail, "time limit of 0.05 s reached");
}

TEST(ForeignSolver, GetsACompleteQueryOnStandardInputOrInAFile) {
  constexpr const char* kCheck =
      "grep -q '^(set-logic QF_BV)$' {0} && grep -q '^(check-sat)$' {0} && grep -q 'bv' {0} && "
      "test $(grep -c '^(declare-fun word0 ()' {0}) = 1 && echo unsat";
  EXPECT_EQ(
      proven(fmt::format("cat > /dev/null < {{}}; {}", fmt::format(kCheck, "{}")), kFrom5).verdict,
      Verdict::kEquivalent);
  EXPECT_EQ(proven("case {} in *.smt2) echo unsat;; esac", kFrom5).verdict, Verdict::kEquivalent);
  EXPECT_EQ(proven("grep -q '^(check-sat)$' && echo unsat", kFrom5).verdict, Verdict::kEquivalent);
}

TEST(ForeignSolver, RefinementRunsTwoQueries) {
  constexpr auto kRefines = Question::Goal::kRefines;
  EXPECT_EQ(proven("echo unsat", kFrom5, 20, kRefines).verdict, Verdict::kEquivalent);
  EXPECT_EQ(proven("echo sat", kFrom6, 20, kRefines).verdict, Verdict::kUnknown);
}

TEST(ForeignSolver, ItsModelHasTheValuesOfSymbols) {
  const Program before = assemble("ld [0]\njeq #5, y, n\ny: ret #1\nn: ret #2\n");
  const auto named =
      read_symbolic("ld [0]\njeq #$fd, y, n\ny: ret #1\nn: ret #2\n", "test", Form::kAsm);
  ASSERT_TRUE(named);
  Question question;
  question.before = {before};
  question.after = {named->program};
  question.symbols.add(named->program, named->uses);
  const auto proof = prove_by({with_values(7, " ($fd #x00000007)")}, question, 20);
  ASSERT_TRUE(proof);
  ASSERT_EQ(proof->verdict, Verdict::kDifferent) << proof->detail;
  EXPECT_EQ(proof->symbols, std::vector<std::uint32_t>{7});
  EXPECT_EQ(prove_by({with_values(7, " ($fd #x00000005)")}, question, 20)->verdict,
            Verdict::kUnknown);
  EXPECT_EQ(prove_by({with_values(7)}, question, 20)->verdict, Verdict::kUnknown);
}

}  // namespace
}  // namespace secequiv::smt::foreign_test
