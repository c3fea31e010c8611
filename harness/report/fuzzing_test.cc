// Tests each form of the reports of `fuzz`, `mutate` and `cover` with values made by hand.
#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/report/cover.h"
#include "harness/report/hunt.h"
#include "harness/report/mutate.h"

namespace secequiv::report_fuzzing_test {
namespace {

HuntReport hunted() {
  HuntReport report;
  report.verdict = Verdict::kDifferent;
  report.reason = "it allows everything";
  report.target = "./optimizer";
  report.kind = "optimizer";
  report.subjects = "generated programs";
  report.seed = 5;
  report.trials = 3;
  report.answered = 3;
  Finding finding;
  finding.detail = "it allows everything";
  finding.found_by = "inputs";
  finding.subject = {"generated", "", assemble("ret #0\n")};
  finding.after = assemble("ret #0x7fff0000\n");
  finding.witness = Witness{SeccompData{}, 0, 0x7fff0000};
  finding.direction = direction_of({&*finding.witness, 1});
  finding.reduced = true;
  finding.original_size = 9;
  finding.group = "different: ret r0";
  finding.shape = "ret r0";
  finding.count = 2;
  finding.file = "found/1";
  report.findings = {finding};
  report.scaling = {{"chain", {10, 20}, {0.001, 0.004}, 2.0}};
  return report;
}

TEST(HuntReportText, ShowsTheDirectionFirstAndTheVerdictLast) {
  const std::string text = hunt_text(hunted());
  EXPECT_TRUE(text.starts_with(
      "LOOSER: calls on other architectures newly allowed (for the inputs that were run; other "
      "inputs are "
      "undecided)\noptimizer: ./optimizer\nsubjects: generated programs (seed 5)\n"))
      << text;
  EXPECT_NE(text.find("LOOSER: calls on other architectures newly allowed (for the inputs that "
                      "were run; other inputs "
                      "are undecided)\ndifferent: it allows everything\n  before, 1 instruction\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" | = ALLOW\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  found in 2 trials\n  stored: found/1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("   size^2.0\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("verdict: different (it allows everything)\n")) << text;
}

TEST(HuntReportText, SummarizesWhatWasTried) {
  HuntReport report = hunted();
  report.shapes = {{"instructions", "1-8", 50, 1},
                   {"instructions", "9-32", 150, 2},
                   {"pairs", "stx, ld M", 3, 3},
                   {"pairs", "txa, txa", 0, 0}};
  EXPECT_EQ(hunt_text(report).find("tried"), std::string::npos) << "three trials need no summary";
  report.trials = 200;
  EXPECT_NE(hunt_text(report).find("\ninstructions: 9-32 in 75%, 1-8 in 25%; 3 of 4 shapes tried, "
                                   "the rarest (pairs stx, ld M) in 3 trials\n"
                                   "never supported: pairs stx, ld M (3)\n"),
            std::string::npos)
      << hunt_text(report);
  const auto json = to_json(report);
  EXPECT_EQ(json["shapes"]["instructions"]["9-32"], 150);
  EXPECT_EQ(json["shapes"]["pairs"]["txa, txa"], 0);
  EXPECT_EQ(json["unsupported_shapes"]["pairs"]["stx, ld M"], 3);
}

TEST(HuntReportText, MarksNewFindingsIfEarlierOnesAreKnown) {
  HuntReport report = hunted();
  report.findings.push_back(report.findings[0]);
  report.findings[1].failure = false;
  report.knows_earlier = true;
  EXPECT_NE(hunt_text(report).find("\ndifferent (new): it"), std::string::npos);
  EXPECT_NE(hunt_text(report).find("\ndifferent (not a failure): it"), std::string::npos);
  EXPECT_TRUE(reported(report).cases[0].message.starts_with("different (new): LOOSER: "));
  report.findings[1].known = true;
  EXPECT_NE(hunt_text(report).find("\ndifferent (known): it"), std::string::npos);
}

TEST(HuntReportText, NamesTheTimeLimitOfRequestsIfHangsTakeTime) {
  HuntReport report = hunted();
  report.seconds = 14;
  report.limit_seconds = 5;
  report.request_seconds = 10;
  EXPECT_EQ(hunt_text(report).find("time: "), std::string::npos);
  report.findings[0].kind = FindingKind::kHung;
  const std::string line =
      "time: 14 s instead of 5 s, because requests hung; a lower --request-timeout (now 10 s) ends "
      "them earlier";
  EXPECT_NE(hunt_text(report).find("\n" + line + "\nverdict: "), std::string::npos);
  EXPECT_TRUE(reported(report).reason.ends_with("; " + line));
  EXPECT_EQ(to_json(report)["request_timeout"], 10);
  report.seconds = 5.9;
  EXPECT_EQ(hunt_text(report).find("time: "), std::string::npos);
}

TEST(HuntReportText, ShowsTheLinesOfAMessageAndOneLineInTheVerdict) {
  HuntReport report = hunted();
  report.findings[0].detail = report.reason = "it ends:\npanic: oops\n  a.go:3\n";
  EXPECT_NE(hunt_text(report).find(": it ends:\n    panic: oops\n      a.go:3\n  before"),
            std::string::npos)
      << hunt_text(report);
  EXPECT_TRUE(hunt_text(report).ends_with("(it ends: panic: oops | a.go:3)\n"));
}

TEST(HuntReportText, EscapesWhatTheCodeUnderTestPrints) {
  HuntReport report = hunted();
  report.findings[0].detail = "\x1b[2J";
  EXPECT_EQ(hunt_text(report).find('\x1b'), std::string::npos);
}

TEST(HuntReportJson, HasProgramsAndScaling) {
  const auto json = to_json(hunted());
  EXPECT_EQ(json["schema"], "secequiv.fuzz/1");
  EXPECT_EQ(json["findings"][0]["kind"], "different");
  EXPECT_EQ(json["findings"][0]["after"][0][3], 0x7fff0000u);
  EXPECT_TRUE(json["findings"][0]["direction"]["allowed"]["unknown_arches"]);
  EXPECT_EQ(json["scaling"][0]["exponent"], 2.0);
  const std::string text = json["findings"][0]["text"];
  EXPECT_NE(hunt_text(hunted()).find("\n\n" + text), std::string::npos) << text;
}

TEST(HuntReportText, CountsTheFailuresThatNoFindingExplains) {
  HuntReport report = hunted();
  report.not_reduced = 1;
  EXPECT_NE(hunt_text(report).find("\n1 more trial failed; no finding above explains it, and no "
                                   "time was left to reduce it\n"),
            std::string::npos);
  report.not_reduced = 2;
  EXPECT_NE(hunt_text(report).find("\n2 more trials failed; no finding above explains them, and no "
                                   "time was left to reduce them\n"),
            std::string::npos);
}

TEST(HuntReportCases, EachFindingHasACaseAndTheFuzzingOnlyIfNoneFails) {
  HuntReport report = hunted();
  report.findings.push_back(report.findings[0]);
  report.findings[1].failure = false;
  report.seconds = 7;
  const ReportedCases found = reported(report);
  ASSERT_EQ(found.cases.size(), 2u);
  EXPECT_EQ(found.cases[0].state, ReportedCase::State::kFail);
  EXPECT_EQ(found.cases[0].place->path, "found/1");
  EXPECT_EQ(found.cases[1].state, ReportedCase::State::kWarning);
  EXPECT_EQ(found.cases[0].seconds, 7);
  EXPECT_EQ(found.reason,
            "it allows everything; 3 trials: 3 answered, 0 proven, 0 undecided, 0 evaluations "
            "(seed 5)");
  report.findings.erase(report.findings.begin());
  report.verdict = Verdict::kPass;
  const ReportedCases passed = reported(report);
  ASSERT_EQ(passed.cases.size(), 3u);
  EXPECT_EQ(title_of(passed.cases[0]), "fuzzing");
  EXPECT_EQ(passed.cases[0].state, ReportedCase::State::kPass);
}

TEST(HuntReportCases, ACaseHasTheNameOfTheStoredFileAndAShortShape) {
  HuntReport report = hunted();
  const ReportedCases found = reported(report);
  EXPECT_EQ(title_of(found.cases[0]), "finding " + short_name(report.findings[0]));
  EXPECT_TRUE(found.cases[0].message.ends_with("; shape: ret r0")) << found.cases[0].message;
  report.findings[0].pass = "merge-returns";
  report.findings[0].shape = std::string(2000, 'x');
  report.findings[0].group = "different in merge-returns: " + report.findings[0].shape;
  const ReportedCase shown = reported(report).cases[0];
  EXPECT_TRUE(shown.message.ends_with("; pass: merge-returns")) << shown.message;
  EXPECT_EQ(title_of(shown).size(), std::string("finding different-01234567").size());
  report.findings[0].kind = FindingKind::kCrashed;
  report.findings[0].group = "crashed: panic";
  report.findings[0].shape.clear();
  EXPECT_EQ(reported(report).cases[0].message.find("shape"), std::string::npos);
}

TEST(HuntReport, ListsFilesThatCannotBeRead) {
  HuntReport report = hunted();
  report.unread = {{"mix/typo.asm", make_error(ErrorCode::kParse, "mix/typo.asm:2:10", "no label")},
                   {"mix/empty", make_error(ErrorCode::kIo, "", "it is empty")}};
  EXPECT_NE(hunt_text(report).find(
                "\nnot tested: mix/typo.asm:2:10: no label\nnot tested: mix/empty: it is empty\n"),
            std::string::npos)
      << hunt_text(report);
  const auto json = to_json(report)["unread"];
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["file"], "mix/typo.asm");
  EXPECT_EQ(json[1]["error"], "mix/empty: it is empty");
  const ReportedCases found = reported(report);
  ASSERT_EQ(found.cases.size(), 3u);
  EXPECT_EQ(title_of(found.cases[1]), "unread mix/typo.asm");
  EXPECT_EQ(found.cases[1].state, ReportedCase::State::kUnknown);
  EXPECT_EQ(found.cases[1].place->line, 2u);
  EXPECT_EQ(found.cases[2].place->path, "mix/empty");
}

MutationReport scored() {
  MutationReport report;
  MutationCounts& counts = report.operators[0];
  counts.mutants = 10;
  counts.by_inputs = 6;
  counts.by_fuzzing = 2;
  counts.equivalent = 2;
  counts.proofs = 4;
  counts.proven_different = 2;
  report.inputs = {{"program", 100, 6}};
  return report;
}

TEST(MutationReportText, GivesScoresAndTheVerdict) {
  const std::string text = mutation_text(scored(), assemble("ret #0\n"));
  EXPECT_NE(text.find("inputs    program: 100; killed 6\n"), std::string::npos) << text;
  EXPECT_NE(text.find("score     derived inputs kill 75.00 % of the mutants that differ"),
            std::string::npos)
      << text;
  EXPECT_TRUE(
      text.ends_with("pass: every mutant is killed, some by fuzzing alone, or proven equivalent\n"))
      << text;
}

TEST(MutationReportText, ShowsSurvivors) {
  const Program program = assemble("ret #0\n");
  MutationReport report = scored();
  ++report.operators[0].survived;
  report.missed = {{mutants_of(program).accepted.front(), Witness{SeccompData{}, 0, 1}, {}, ""}};
  const std::string text = mutation_text(report, program);
  EXPECT_TRUE(text.starts_with("survived: instruction 0: ")) << text;
  EXPECT_TRUE(text.ends_with("fail: 1 mutant survived\n")) << text;
  const auto json = to_json(ShownScore{report, program});
  EXPECT_EQ(json["missed_by_inputs"][0]["fate"], "survived");
  EXPECT_EQ(json["total"]["survived"], 1);
}

TEST(MutationReportText, AnInterruptBeforeAllMutantsAreKnownGivesNoScore) {
  MutationReport report;
  report.interrupted = true;
  report.listed = false;
  const std::string text = mutation_text(report, assemble("ret #0\n"));
  EXPECT_TRUE(
      text.ends_with("score     unknown: the run was interrupted while the mutants were listed\n"
                     "unknown: interrupted before all mutants were listed\n"))
      << text;
}

TEST(CoverReport, FeasibleObligationsFailAndUndecidedOnesAreUnknown) {
  const Program program = assemble("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0\n");
  CoverReport report;
  report.obligations = 6;
  report.covered = 4;
  report.infeasible = {{1, Obligation::Kind::kTrue}};
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  report.open = {{2, Obligation::Kind::kLine}};
  EXPECT_EQ(report.verdict(), Verdict::kUnknown);
  EXPECT_EQ(cover_text(report, program),
            "undecided: instruction 2\n"
            "unknown: 4 of 6 obligations covered, 1 proven infeasible, 0 feasible but not covered, "
            "1 undecided\n");
  report.feasible = {
      {{1, Obligation::Kind::kFalse}, Feasibility::Answer::kFeasible, SeccompData{}, ""}};
  EXPECT_EQ(report.verdict(), Verdict::kFail);
  EXPECT_TRUE(cover_text(report, program).starts_with("not covered: instruction 1 false; "));
  const auto json = to_json(report);
  EXPECT_EQ(json["schema"], "secequiv.cover/1");
  EXPECT_EQ(json["feasible"][0]["kind"], "false");
  EXPECT_EQ(json["open"][0]["instruction"], 2);
}

}  // namespace
}  // namespace secequiv::report_fuzzing_test
