// Tests the renderers of lint with a report value made by hand.
#include "harness/report/lint.h"

#include <gtest/gtest.h>

namespace secequiv::report_lint_test {
namespace {

const RulePlace kRead{1, 0x7fff0000, Arch::kX86_64, 0};

LintReport made_by_hand() {
  LintReport out{"p.json", "p.json", false, {}, {}};
  out.redundant = {{RedundantRule::Kind::kShadowed, kRead, {}, {}},
                   {RedundantRule::Kind::kDuplicate, kRead, {2, 0}, {{0}, {1, 1, 1, 1, 1}}}};
  out.doubtful = {{DoubtfulRule::Kind::kInconsistent, kRead, 1, {0}, {{1}}}};
  return out;
}

TEST(LintReport, TextListsEachFinding) {
  EXPECT_EQ(lint_text(made_by_hand()),
            "fail: 2 redundant rules, 1 warning; each can be removed alone, but perhaps not all "
            "together\n"
            "rule set 2 (ALLOW), x86_64:read: shadowed: earlier rule sets decide every call that "
            "it matches\n"
            "rule set 2 (ALLOW), x86_64:read, part 3, part 1: duplicate: it repeats parts 1, "
            "2(x5)\n"
            "warning: rule set 2 (ALLOW), x86_64:read: inconsistent: part 1 checks arg1, but part "
            "2 does not\n");
}

TEST(LintReport, WarningsFailOnlyIfStrict) {
  LintReport report = made_by_hand();
  report.redundant.clear();
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  EXPECT_TRUE(lint_text(report).starts_with("pass: 0 redundant rules, 1 warning\n"));
  report.strict = true;
  EXPECT_EQ(to_json(report)["verdict"], "fail");
  report.doubtful.clear();
  EXPECT_EQ(report.verdict(), Verdict::kPass);
}

TEST(LintReport, ShowsPositionsInTheFile) {
  LintReport report = made_by_hand();
  report.redundant[0].place.position.at =
      std::make_shared<RulePosition>(RulePosition{"d.json", 812, "syscalls[14]", "includes CAP_X"});
  report.redundant[1].original.at = std::make_shared<RulePosition>(RulePosition{"d.json", 7});
  const std::string text = lint_text(report);
  EXPECT_NE(
      text.find(
          "\nd.json:812 (syscalls[14], includes CAP_X): x86_64:read: shadowed: earlier rule sets"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("it repeats parts 1, 2(x5) (line 7)\n"), std::string::npos) << text;
  EXPECT_EQ(to_json(report)["idle"][0]["origin"],
            nlohmann::ordered_json::parse(R"j({"file": "d.json", "line": 812,
              "path": "syscalls[14]", "condition": "includes CAP_X"})j"));
  const ReportedCases cases = reported(report);
  EXPECT_EQ(cases.cases[0].place->path, "d.json");
  EXPECT_EQ(cases.cases[0].place->line, 812u);
  EXPECT_FALSE(cases.cases[1].place->line);
}

TEST(LintReport, UnknownNamesAreWarnings) {
  LintReport report{"p.json", "p.json",
                    false,    {},
                    {},       {{UnknownName::Kind::kCall, "keyctll", {"p.json", 7}, "; or so?"}}};
  EXPECT_EQ(lint_text(report),
            "pass: 0 redundant rules, 1 warning\n"
            "warning: p.json:7: unknown_name: no architecture has a system call 'keyctll'; or so?"
            "\n");
  EXPECT_EQ(reported(report).cases[0].place->line, 7u);
  report.strict = true;
  EXPECT_EQ(report.verdict(), Verdict::kFail);
  EXPECT_EQ(to_json(report)["warnings"][0]["origin"]["line"], 7);
}

TEST(LintReport, CountsAFindingOnceForAllArchitectures) {
  LintReport report = made_by_hand();
  report.redundant.erase(report.redundant.begin());
  report.redundant.push_back(report.redundant[0]);
  report.redundant[1].place.arch = Arch::kI386;
  report.redundant[1].place.nr = 3;
  report.doubtful.push_back(report.doubtful[0]);
  report.doubtful[1].place = report.redundant[1].place;
  EXPECT_EQ(lint_text(report),
            "fail: 1 redundant rule, 1 warning\n"
            "rule set 2 (ALLOW), x86_64,i386:read, part 3, part 1: duplicate: it repeats parts 1, "
            "2(x5)\n"
            "warning: rule set 2 (ALLOW), x86_64,i386:read: inconsistent: part 1 checks arg1, but "
            "part 2 does not\n");
  EXPECT_EQ(reported(report).cases.size(), 2u);
  EXPECT_EQ(to_json(report)["idle"].size(), 2u);
  report.doubtful[1].unchecked = {{2}};
  EXPECT_TRUE(lint_text(report).starts_with("fail: 1 redundant rule, 2 warnings\n"));
}

TEST(LintReport, JsonCountsFromOne) {
  const auto json = to_json(made_by_hand());
  EXPECT_EQ(json["idle"][1]["rule_set"], 2);
  EXPECT_EQ(json["idle"][1]["parts"], nlohmann::ordered_json({3, 1}));
  EXPECT_EQ(json["idle"][1]["originals"][0], nlohmann::ordered_json({1}));
  EXPECT_FALSE(json["idle"][0].contains("originals"));
  EXPECT_EQ(json["warnings"][0]["field"], "arg1");
}

TEST(LintReport, CasesOfOneKindAndCallAreNumbered) {
  LintReport report = made_by_hand();
  report.redundant.push_back(report.redundant[1]);
  report.redundant.back().part = {0};
  report.unknown = {{UnknownName::Kind::kCall, "keyctll", {"p.json", 7}, ""}};
  std::vector<std::string> names;
  for (const ReportedCase& one : reported(report).cases) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"shadowed x86_64:read", "duplicate x86_64:read",
                                             "duplicate x86_64:read 2", "inconsistent x86_64:read",
                                             "unknown_name keyctll"}));
}

TEST(LintReport, CasesNameTheFile) {
  const ReportedCases cases = reported(made_by_hand());
  ASSERT_EQ(cases.cases.size(), 3u);
  EXPECT_EQ(cases.exit_status, 1);
  EXPECT_EQ(cases.cases[0].place->path, "p.json");
  EXPECT_EQ(cases.cases[2].state, ReportedCase::State::kWarning);
  LintReport unnamed = made_by_hand();
  unnamed.file.clear();
  unnamed.strict = true;
  EXPECT_FALSE(reported(unnamed).cases[0].place);
  EXPECT_EQ(reported(unnamed).cases[2].state, ReportedCase::State::kFail);
}

}  // namespace
}  // namespace secequiv::report_lint_test
