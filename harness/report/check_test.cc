// Tests each form of a check's report with values made by hand.
#include "harness/report/check.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/report/page.h"

namespace secequiv::report_check_test {
namespace {

CheckReport passing() {
  CheckReport report;
  report.verdict = Verdict::kPass;
  report.reason = "proven equivalent for all inputs";
  report.before = {"a.bpf", assemble("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0\n"), {}};
  report.after = {"b.bpf", assemble("ret #0x7fff0000\n"), {}};
  report.inputs = 7;
  report.evaluations = 8;
  report.dropped = 2000000;
  report.obligations = 5;
  report.covered_by_inputs = 3;
  report.covered_by_witnesses = 1;
  report.infeasible = {{0, Obligation::Kind::kLine}};
  report.listing = "listing";
  report.proof.emplace();
  report.proof->verdict = Verdict::kEquivalent;
  report.proof->engine = "dd";
  report.cache = {{Arch::kX86_64, {39, 60}, {39}, {60}, {}}};
  report.cache_loss_allowed = true;
  return report;
}

CheckReport differing() {
  CheckReport report = passing();
  report.verdict = Verdict::kDifferent;
  report.reason = "the programs differ";
  SeccompData data;
  data.set_nr(1);
  report.witness = Witness{data, 0, 0x7fff0000};
  report.proof.reset();
  report.listing.clear();
  report.infeasible.clear();
  return report;
}

TEST(CheckReportText, HasALineForEachStepAndTheVerdictLast) {
  EXPECT_EQ(check_text(passing()),
            "before    a.bpf: 4 instructions\n"
            "after     b.bpf: 1 instruction\n"
            "inputs    7 derived, 8 run through both in 0.0 ms; 2.0e+06 combinations left out\n"
            "coverage  5 obligations of the optimized program: 3 covered by derived inputs, 1 by "
            "inputs from the prover, 1 infeasible, 0 undecided (0.0 ms)\n"
            "proof     equivalent by dd in 0.0 ms\n"
            "cache     x86_64: 2 calls cached before, 1 after; lost: exit; gained: none\n"
            "verdict   pass: proven equivalent for all inputs\n");
}

TEST(CheckReportText, ListsUndecidedObligations) {
  CheckReport report = passing();
  report.infeasible.clear();
  report.open = {{{0, Obligation::Kind::kLine}, Feasibility::Answer::kUnknown, {}, "out of time"}};
  EXPECT_NE(check_text(report).find("  undecided: instruction 0: out of time\n"), std::string::npos)
      << check_text(report);
}

TEST(CheckReportText, ShowsTracesExceptInASummary) {
  const CheckReport report = differing();
  const std::string text = check_text(report);
  EXPECT_NE(text.find("  before: 0x00000000 KILL_THREAD: instruction 3\n"), std::string::npos)
      << text;
  const std::string summary = check_summary(report);
  EXPECT_NE(summary.find("\nwitness   KILL_THREAD became ALLOW for "), std::string::npos)
      << summary;
  EXPECT_TRUE(summary.ends_with("\nverdict   different: the programs differ\n")) << summary;
}

TEST(CheckReportText, ReportsTheCampaign) {
  CheckReport report = passing();
  report.fuzz = CampaignReport{.not_run = "interrupted",
                               .seeds = 1,
                               .seeds_met = 2,
                               .corpus = "inputs",
                               .stored = 3,
                               .added = 4,
                               .kept = 5};
  const std::string text = check_text(report);
  EXPECT_NE(text.find("seeds     1 input from the prover cover 2 of 5 obligations after 0.0 ms\n"
                      "fuzzing   not started: interrupted\n"
                      "corpus    inputs: 3 inputs read, 4 added, 5 left\n"),
            std::string::npos)
      << text;
}

TEST(CheckReportJson, ContainsEveryPart) {
  const auto json = to_json(differing());
  EXPECT_EQ(json["schema"], "secequiv.check/1");
  EXPECT_EQ(json["verdict"], "different");
  EXPECT_EQ(json["after"]["instructions"], 1);
  EXPECT_EQ(json["inputs"]["dropped"], 2000000);
  EXPECT_EQ(json["cache"]["arches"][0]["lost"][0], "exit");
  EXPECT_EQ(json["traces"]["before"]["steps"].size(), 3u);
  EXPECT_EQ(json["traces"]["after"]["result"]["action"], "ALLOW");
  EXPECT_FALSE(json.contains("proof"));
  EXPECT_EQ(to_json(passing())["coverage"]["infeasible"].size(), 1u);
}

TEST(CheckReportCases, EachStepHasACase) {
  const ReportedCases found =
      reported(passing(), "check", {{"a.bpf", true, {}}, {"b.bpf", true, {}}});
  std::vector<std::string> kinds;
  for (const ReportedCase& one : found.cases) {
    kinds.push_back(one.kind);
    EXPECT_NE(one.state, ReportedCase::State::kFail) << one.kind;
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"acceptance", "decision", "coverage", "proof", "cache",
                                             "verdict"}));
  EXPECT_EQ(found.exit_status, 0);
  EXPECT_EQ(found.file, "b.bpf");
}

TEST(CheckReportCases, ADifferenceHasAPlaceAndTwoTraces) {
  const ReportedCases found =
      reported(differing(), "check", {{"a.bpf", false, {}}, {"b.bpf", false, {9}}});
  const ReportedCase& decision = found.cases.at(1);
  EXPECT_EQ(decision.state, ReportedCase::State::kFail);
  ASSERT_TRUE(decision.place);
  EXPECT_EQ(decision.place->path, "b.bpf");
  EXPECT_EQ(decision.place->line, 9u);
  ASSERT_EQ(decision.traces.size(), 2u);
  EXPECT_EQ(decision.traces[0].size(), 3u);
  EXPECT_EQ(found.cases.at(2).state, ReportedCase::State::kSkipped);
}

TEST(CheckReportCases, ALostCachedCallFailsUnlessAllowed) {
  CheckReport report = passing();
  report.cache_loss_allowed = false;
  report.verdict = Verdict::kFail;
  const ReportedCases found = reported(report, "check", {});
  EXPECT_EQ(found.cases.at(4).state, ReportedCase::State::kFail);
  EXPECT_EQ(found.exit_status, 1);
}

TEST(CheckPage, ContainsTheReportAndNoMarkupFromNames) {
  const CheckReport report = differing();
  Page page;
  page.sides[0].side = report.before;
  page.sides[0].side.name = "<script>";
  page.sides[1].side = report.after;
  page.verdict = report.verdict;
  page.direction.emplace().allowed.calls = {{Arch::kX86_64, 41, true}};
  page.text = "<i>";
  page.version = "1.2.3";
  page.difference = "1 of 2^512 inputs differ";
  page.inputs = {{"the witness", report.witness->data}};
  page.regions.emplace_back().when = "<u>";
  page.provenance = {{"Command line", "secequiv '<s>'"}};
  const std::string text = html(page);
  for (const char* const markup : {"<script> ", "<i>", "<u>", "<s>"})
    EXPECT_EQ(text.find(markup), std::string::npos) << markup;
  EXPECT_NE(text.find("<title>LOOSER: &lt;script&gt; → b.bpf</title>"), std::string::npos);
  EXPECT_NE(text.find("1 of 2^512 inputs differ"), std::string::npos);
  EXPECT_NE(text.find(R"("label":"the witness")"), std::string::npos);
  EXPECT_EQ(text.find("@@"), std::string::npos);
}

}  // namespace
}  // namespace secequiv::report_check_test
