// The renderers of lint, on a report value made by hand.
#include "harness/report/lint.h"

#include <gtest/gtest.h>

namespace secequiv {
namespace {

const RulePlace kRead{1, 0x7fff0000, Arch::kX86_64, 0};

LintReport made_by_hand() {
  LintReport out{"p.json", "p.json", false, {}, {}};
  out.redundant = {{RedundantRule::Kind::kShadowed, kRead, {}, {}},
                   {RedundantRule::Kind::kDuplicate, kRead, {2, 0}, {{0}, {1, 1, 1, 1, 1}}}};
  out.doubtful = {{DoubtfulRule::Kind::kInconsistent, kRead, 1, {0}, {{1}}}};
  return out;
}

TEST(LintReport, Text) {
  EXPECT_EQ(lint_text(made_by_hand()),
            "rule set 2 (ALLOW), x86_64:read: shadowed: earlier rule sets decide everything it "
            "matches\n"
            "rule set 2 (ALLOW), x86_64:read, part 3, part 1: duplicate: it repeats parts 1, "
            "2(x5)\n"
            "warning: rule set 2 (ALLOW), x86_64:read: inconsistent: part 1 checks arg1, part 2 "
            "does not\n"
            "fail: 2 redundant rules, 1 warning; each can be removed alone, but perhaps not all "
            "together\n");
}

TEST(LintReport, WarningsFailOnlyIfStrict) {
  LintReport report = made_by_hand();
  report.redundant.clear();
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  EXPECT_TRUE(lint_text(report).ends_with("pass: 0 redundant rules, 1 warning\n"));
  report.strict = true;
  EXPECT_EQ(to_json(report)["verdict"], "fail");
  report.doubtful.clear();
  EXPECT_EQ(report.verdict(), Verdict::kPass);
}

TEST(LintReport, JsonCountsFromOne) {
  const auto json = to_json(made_by_hand());
  EXPECT_EQ(json["idle"][1]["rule_set"], 2);
  EXPECT_EQ(json["idle"][1]["parts"], nlohmann::ordered_json({3, 1}));
  EXPECT_EQ(json["idle"][1]["originals"][0], nlohmann::ordered_json({1}));
  EXPECT_FALSE(json["idle"][0].contains("originals"));
  EXPECT_EQ(json["warnings"][0]["field"], "arg1");
}

TEST(LintReport, CasesHaveTheFile) {
  const ReportedCases cases = reported(made_by_hand());
  ASSERT_EQ(cases.cases.size(), 3u);
  EXPECT_EQ(cases.exit_status, 1);
  EXPECT_EQ(cases.cases[0].place->path, "p.json");
  EXPECT_EQ(cases.cases[2].state, ReportedCase::State::kSkipped);
  LintReport unnamed = made_by_hand();
  unnamed.file.clear();
  unnamed.strict = true;
  EXPECT_FALSE(reported(unnamed).cases[0].place);
  EXPECT_EQ(reported(unnamed).cases[2].state, ReportedCase::State::kFail);
}

}  // namespace
}  // namespace secequiv
