#include "harness/report/markdown.h"

#include <gtest/gtest.h>

namespace secequiv::report_markdown_test {
namespace {

TEST(Markdown, ShowsVerdictDirectionCasesAndFoldedDetails) {
  ReportedCases report{"check", "a.bpf, b.bpf", Verdict::kDifferent, 1, "they differ", {}};
  report.direction = "LOOSER: memfd_create newly allowed";
  ReportedCase& one =
      report.cases.emplace_back("decision", ReportedCase::State::kFail, "x became y");
  one.detail = "line 1\nline 2\n";
  one.place = ReportedCase::Place{"b.bpf", false, 7, std::nullopt};
  report.cases.emplace_back("cache", ReportedCase::State::kPass, "no call is lost");
  EXPECT_EQ(markdown(report),
            "<!-- secequiv report -->\n"
            "### secequiv check: different\n\n"
            "**LOOSER: memfd\\_create newly allowed**\n\n"
            "a.bpf, b.bpf\n\n"
            "they differ\n\n"
            "| examined | result | |\n|---|---|---|\n"
            "| decision | **fail** | x became y at b.bpf, instruction 7 |\n"
            "| cache | pass | no call is lost |\n"
            "\n<details><summary>decision</summary>\n\n"
            "```text\nline 1\nline 2\n```\n\n</details>\n");
}

TEST(Markdown, AnErrorOfTheCommandIsNotAFailure) {
  const auto ended = reported(make_error(ErrorCode::kUsage, "--assume", "bad"), "diff", 2);
  const std::string text = markdown(ended);
  EXPECT_NE(text.find("### secequiv diff: error\n"), std::string::npos) << text;
  EXPECT_NE(text.find("| error | **error** | --assume: bad |"), std::string::npos) << text;
}

TEST(Markdown, TextFromFilesCannotBecomeMarkup) {
  ReportedCases report{"check", "</details><b>`|@all\n# x", Verdict::kPass, 0, "", {}};
  report.cases.emplace_back("proof", ReportedCase::State::kPass, "a|b").detail = "```\n</details>";
  const std::string text = markdown(report);
  EXPECT_NE(text.find("&lt;/details&gt;&lt;b&gt;\\`\\|\\@all\\\\x0a\\# x"), std::string::npos)
      << text;
  EXPECT_NE(text.find("| a\\|b |"), std::string::npos) << text;
  EXPECT_NE(text.find("````text\n```\n</details>\n````\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace secequiv::report_markdown_test
