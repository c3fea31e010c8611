// Tests each form of a proof's report with values made by hand.
#include "harness/report/prove.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/bpf/testing.h"

namespace secequiv::report_prove_test {
namespace {

ProveReport proven(Verdict verdict) {
  ProveReport report;
  report.subject = "a.bpf, b.bpf";
  report.before = {{"a.bpf", assemble("ret #0\n"), {}}};
  report.after = {{"b.bpf", assemble("ret #0x7fff0000\n"), {}}};
  report.files = SideFiles{{"a.bpf", false, {}}, {"b.bpf", true, {}}};
  report.question.before = {report.before[0].program};
  report.question.after = {report.after[0].program};
  report.proof.verdict = verdict;
  report.proof.engine = "dd";
  if (verdict != Verdict::kDifferent) return report;
  report.proof.relation = Relation::kLooser;
  report.proof.witness = Witness{SeccompData{}, 0, 0x7fff0000};
  report.proof.minimal = true;
  return report;
}

OracleReport answers(std::uint32_t value) {
  OracleReport report;
  report.who = "Linux 6.18";
  AskedProgram& program = report.programs.emplace_back();
  program.name = "a.bpf";
  program.inputs = 1;
  if (value != 0) program.disagreement = Disagreement{SeccompData{}, 0, value};
  return report;
}

TEST(ProveReportText, TheMiddleOfLongTracesIsLeftOut) {
  ProveReport report = proven(Verdict::kDifferent);
  std::string loads;
  for (int i = 0; i < 40; ++i) loads += "ld #0\n";
  report.question.before = {report.before[0].program = assemble(loads + "ret #0\n")};
  const std::string text = prove_text(report);
  EXPECT_NE(text.find("  ... 17 more instructions ..."), std::string::npos) << text;
  EXPECT_LT(std::ranges::count(text, '\n'), 40) << text;
}

// Both programs load 40 times before and after the comparison that differs.
TEST(ProveReportText, ALongTraceShowsWhereTheTracesPart) {
  ProveReport report = proven(Verdict::kDifferent);
  const auto forty = [](const std::string& line) {
    std::string out;
    for (int i = 0; i < 40; ++i) out += line;
    return out;
  };
  const std::string loads = forty("ld [0]\n");
  const std::string deny = "no: " + forty("ld #1\n") + "ret #0\n";
  const std::string allow = "yes: " + forty("ld #2\n") + "ret #0x7fff0000\n";
  report.question.before = {report.before[0].program =
                                assemble(loads + "jgt #0, yes, no\n" + deny + allow)};
  report.question.after = {report.after[0].program =
                               assemble(loads + "jge #0, yes, no\n" + deny + allow)};
  const std::string text = prove_text(report);
  EXPECT_NE(text.find("  >  40: A=0x0 jgt #0, L82, L41 -> false"), std::string::npos) << text;
  EXPECT_NE(text.find("| >  40: A=0x0 jge #0, L82, L41 -> true"), std::string::npos) << text;
  EXPECT_NE(text.find("  before: 0x00000000 KILL_THREAD: instruction 81\n"
                      "  after:  0x7fff0000 ALLOW: instruction 122\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  ... 25 more instructions ..."), std::string::npos) << text;
}

TEST(ProveReportText, PoliciesHaveRulesInsteadOfTraces) {
  ProveReport report = proven(Verdict::kDifferent);
  report.before[0].of_policy = report.after[0].of_policy = true;
  report.rules.before.text = "default action";
  EXPECT_NE(prove_text(report).find("KILL_THREAD: default action\n"), std::string::npos);
  EXPECT_EQ(prove_text(report).find(" | "), std::string::npos) << prove_text(report);
  report.all_traces = true;
  EXPECT_NE(prove_text(report).find(" | "), std::string::npos) << prove_text(report);
}

TEST(ProveReportText, AnEquivalentPairTakesOneLine) {
  EXPECT_EQ(prove_text(proven(Verdict::kEquivalent)),
            "equivalent (dd, encoded in 0.0 ms, solved in 0.0 ms)\n");
}

TEST(ProveReportText, ADifferenceShowsTheWitnessAndTheDirection) {
  const std::string text = prove_text(proven(Verdict::kDifferent));
  EXPECT_TRUE(text.starts_with("witness: ")) << text;
  EXPECT_NE(text.find("(this input has the fewest non-zero words, then the smallest values)\n"
                      "after is looser: never stricter than before\n"
                      "different (dd, "),
            std::string::npos)
      << text;
}

TEST(ProveReportText, NamesTheCertificateAndItsChecker) {
  ProveReport report = proven(Verdict::kEquivalent);
  report.certificate = CertificateReport{"proof", {{"walk.cert", "12345"}}, "", 0, 0};
  EXPECT_NE(prove_text(report).find("certificate: proof/walk.cert (5 bytes)\n"), std::string::npos);
  EXPECT_NE(prove_text(report).find("; scripts/check_certificate proof\n"), std::string::npos);
  EXPECT_EQ(prove_text(report, true), prove_text(proven(Verdict::kEquivalent)));
  EXPECT_EQ(to_json(report)["certificate"]["bytes"], 5);
}

TEST(ProveReport, AMissingCertificateSetsTheStatus) {
  ProveReport report = proven(Verdict::kEquivalent);
  report.certificate = CertificateReport{"proof", {}, "the walk fails", 3, 0};
  EXPECT_EQ(report.verdict(), Verdict::kEquivalent);
  EXPECT_EQ(report.exit_status(), 3);
  const ReportedCases found = reported(report);
  EXPECT_EQ(found.reason, "the walk fails");
  EXPECT_EQ(found.cases.back().kind, "verdict");
  EXPECT_EQ(found.cases.back().state, ReportedCase::State::kUnknown);
}

TEST(ProveReport, AContradictionOfTheOracleOverridesTheProof) {
  ProveReport report = proven(Verdict::kDifferent);
  report.oracle = answers(0x50001);
  EXPECT_EQ(report.verdict(), Verdict::kFail);
  EXPECT_TRUE(prove_text(report).ends_with(
      "fail: our interpreter may be wrong: Linux 6.18 and our interpreter disagree about a.bpf\n"));
  EXPECT_EQ(to_json(report)["verdict"], "fail");
  EXPECT_EQ(reported(report).cases.back().kind, "oracle");
  EXPECT_EQ(reported(report).cases.back().state, ReportedCase::State::kFail);
}

TEST(ProveReport, AnAgreeingOracleChangesNothing) {
  ProveReport report = proven(Verdict::kDifferent);
  report.oracle = answers(0);
  EXPECT_EQ(report.exit_status(), 1);
  EXPECT_NE(prove_text(report).find("1 input, the same results as our interpreter\n"),
            std::string::npos);
}

TEST(ProveReportJson, HasTheQuestionAndBothSides) {
  const auto json = to_json(proven(Verdict::kDifferent));
  EXPECT_EQ(json["schema"], "secequiv.prove/2");
  EXPECT_EQ(json["relation"], "looser");
  EXPECT_EQ(json["question"]["goal"], "same");
  EXPECT_EQ(json["before"][0]["name"], "a.bpf");
  EXPECT_EQ(json["witness"]["after"]["action"], "ALLOW");
}

TEST(ProveReport, ARejectionReportsOnlyTheFilter) {
  ProveReport report;
  report.rejection = Rejection{"a.bpf", "instruction 0: no"};
  EXPECT_EQ(prove_text(report), "rejected: a.bpf: instruction 0: no\n");
  EXPECT_EQ(to_json(report)["file"], "a.bpf");
  EXPECT_EQ(report.exit_status(), 4);
  EXPECT_EQ(reported(report).cases.at(0).kind, "acceptance");
}

TEST(ProveReportCases, TheWitnessHasAPlaceInARawFile) {
  const ReportedCases found = reported(proven(Verdict::kDifferent));
  const ReportedCase& proof = found.cases.at(0);
  EXPECT_EQ(proof.state, ReportedCase::State::kFail);
  ASSERT_TRUE(proof.place);
  EXPECT_TRUE(proof.place->raw);
  EXPECT_EQ(proof.place->pc, 0u);
}

}  // namespace
}  // namespace secequiv::report_prove_test
