// Tests JUnit and SARIF with cases made by hand.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/file.h"
#include "harness/report/junit.h"
#include "harness/report/markdown.h"
#include "harness/report/reported.h"
#include "harness/report/sarif.h"

namespace secequiv::report_cases_test {
namespace {

using State = ReportedCase::State;

ReportedCases found() {
  ReportedCases out{"check", "a, <b>", Verdict::kDifferent, 1, "they differ", {}};
  out.cases.push_back({"decision", State::kFail, "ALLOW became \"KILL\"", "line 1\nline 2\n"});
  ReportedCase& failed = out.cases.back();
  failed.place = ReportedCase::Place{"dir/b c.bpf", true, 3, {}};
  failed.traces = {{{{"a", false, 0, 1}, "ld"}}, {{{"b", false, 0, 2}, "ret"}}};
  failed.seconds = 0.5;
  out.cases.push_back({"coverage", State::kSkipped, "not examined"});
  out.cases.push_back({"proof", State::kUnknown, "out of time"});
  out.cases.push_back({"cache", State::kPass, "no call is lost"});
  return out;
}

TEST(JUnit, CountsStatesAndEscapesText) {
  const std::string xml = junit(found());
  EXPECT_NE(xml.find(R"(tests="4" failures="1" errors="1" skipped="1" time="0.500000")"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("check: a, &lt;b&gt;"), std::string::npos) << xml;
  EXPECT_NE(xml.find("<failure type=\"decision\" message=\"ALLOW became &quot;KILL&quot;\">"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("at dir/b c.bpf, instruction 3\n"), std::string::npos) << xml;
  EXPECT_NE(xml.find("<error type=\"proof\""), std::string::npos) << xml;
}

TEST(JUnit, AnErrorOfTheCommandIsNotAFailure) {
  const ReportedCases ended =
      reported(make_error(ErrorCode::kParse, "x.asm:3:7", "bad"), "check", 2);
  const std::string xml = junit(ended);
  EXPECT_NE(xml.find("failures=\"0\" errors=\"1\""), std::string::npos) << xml;
  EXPECT_FALSE(ended.completed);
  EXPECT_EQ(ended.cases.at(0).place->line, 3u);
}

TEST(Sarif, ResultsAreTheCasesThatDoNotPass) {
  const auto run = nlohmann::json::parse(sarif(found(), "1.2.3"))["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["semanticVersion"], "1.2.3");
  ASSERT_EQ(run["results"].size(), 2u);
  const auto& failed = run["results"][0];
  EXPECT_EQ(failed["ruleId"], "decision");
  EXPECT_EQ(failed["level"], "error");
  const auto& physical = failed["locations"][0]["physicalLocation"];
  EXPECT_EQ(physical["artifactLocation"]["uri"], "dir/b%20c.bpf");
  EXPECT_EQ(physical["region"]["byteOffset"], 24);
  EXPECT_EQ(failed["codeFlows"][0]["threadFlows"].size(), 2u);
  EXPECT_EQ(run["results"][1]["level"], "warning");
  const std::size_t index = failed["ruleIndex"];
  EXPECT_EQ(run["tool"]["driver"]["rules"][index]["id"], "decision");
}

// Services recognize a result by its fingerprint, also if its text, place or state changes.
TEST(Sarif, AFingerprintDependsOnTheQuestionAndTheNameOfTheCaseAlone) {
  const auto print_of = [](const auto& change) {
    ReportedCases report = found();
    report.cases[0].name = "read";
    change(report, report.cases[0]);
    const auto run = nlohmann::json::parse(sarif(report, "1"))["runs"][0];
    return std::string(run["results"][0]["partialFingerprints"]["secequiv/v1"]);
  };
  const std::string print = print_of([](auto&, auto&) {});
  EXPECT_EQ(print, "32b34adf9a8997e4");
  EXPECT_NE(print, print_of([](auto& report, auto&) { report.command = "prove"; }));
  EXPECT_NE(print, print_of([](auto& report, auto&) { report.subject = "c, d"; }));
  EXPECT_NE(print, print_of([](auto&, auto& one) { one.kind = "proof"; }));
  EXPECT_NE(print, print_of([](auto&, auto& one) { one.name = "write"; }));
  EXPECT_EQ(print, print_of([](auto& report, auto& one) {
              one = {"decision", State::kUnknown, "not decided", "", "read"};
              report.reason = "out of time";
            }));
}

TEST(Cases, PlacesInFilesThatDoNotExistAreRemoved) {
  const std::string here = testing::TempDir() + "secequiv_cases_test";
  ASSERT_TRUE(write_file(here, "ret #0\n"));
  ReportedCases given = found();
  given.file = here;
  given.cases[1].place = ReportedCase::Place{here, false, 0, 1};
  given.cases[1].before = ReportedCase::Place{"missing", false, 0, 1};
  given.cases[0].traces[0][0].place.path = here;
  const ReportedCases out = with_existing_files(given);
  EXPECT_EQ(out.file, here);
  EXPECT_EQ(out.cases[0].place->path, "");
  EXPECT_EQ(out.cases[0].place->pc, 3u);
  EXPECT_EQ(out.cases[0].traces[0][0].place.path, here);
  EXPECT_EQ(out.cases[0].traces[1][0].place.path, "");
  EXPECT_EQ(out.cases[1].place->path, here);
  EXPECT_EQ(out.cases[1].before->path, "");
  given.file = testing::TempDir();  // a folder
  EXPECT_EQ(with_existing_files(given).file, "");
  std::filesystem::remove(here);
}

TEST(Cases, ConcludeAddsTheVerdictUnlessACaseShowsIt) {
  ReportedCases failing = found();
  conclude(failing);
  EXPECT_EQ(failing.cases.size(), 4u);
  ReportedCases passing{"check", "", Verdict::kPass, 0, "fine", {}};
  conclude(passing);
  ASSERT_EQ(passing.cases.size(), 1u);
  EXPECT_EQ(passing.cases[0].message, "pass: fine");
}

TEST(Cases, PlacesAreFilesWithLines) {
  EXPECT_EQ(place_of("a.asm:12:3").line, 12u);
  EXPECT_EQ(place_of("a.asm:12").path, "a.asm");
  EXPECT_FALSE(place_of("--engine").line);
  EXPECT_EQ(place_of("a.json:12#/syscalls/0:3").line, 12u);
  EXPECT_EQ(place_of("a.json:12#/syscalls/0").path, "a.json");
}

TEST(Cases, AWarningIsShownEverywhereAndFailsNowhere) {
  ReportedCases out{"lint", "p.json", Verdict::kPass, 0, "0 redundant rules, 1 warning", {}};
  out.cases.push_back({"lint", State::kWarning, "no call is named 'keyctll'"});
  const auto results = nlohmann::json::parse(sarif(out, "1"))["runs"][0]["results"];
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["level"], "warning");
  const std::string xml = junit(out);
  EXPECT_NE(xml.find(R"(failures="0" errors="0" skipped="0")"), std::string::npos) << xml;
  EXPECT_NE(xml.find("keyctll"), std::string::npos) << xml;
  EXPECT_NE(markdown(out).find("| warning | no call is named"), std::string::npos);
  conclude(out);
  EXPECT_EQ(out.cases.back().state, State::kPass);
}

}  // namespace
}  // namespace secequiv::report_cases_test
