// Tests the renderers of a difference, and its comparison with a stored one, with values made by
// hand.
#include "harness/report/diff.h"

#include <gtest/gtest.h>

#include "harness/report/diff_page.h"
#include "harness/report/expectation.h"
#include "harness/report/json.h"

namespace secequiv::report_diff_test {
namespace {

const Program kAllow = {Insn{6, 0, 0, 0x7fff0000}};
const Program kDeny = {Insn{6, 0, 0, 0x50001}};

Region nr_is(std::uint32_t nr) { return {{{kNrWord, nr, false, {0, 0}, {{nr, nr}}, {}}}, "8"}; }

DiffReport made_by_hand() {
  DiffReport out;
  out.subject = "a, b";
  out.question.before = {kAllow};
  out.question.after = {kDeny};
  out.difference = {
      {{{0x7fff0000, 0x7fff0000}, {0x50001, 0x50000}, {{nr_is(0), nr_is(1)}, "16", "2"}}}, "16"};
  out.verdict = Verdict::kDifferent;
  return out;
}

TEST(DiffReport, TextListsChangesAndRegions) {
  DiffReport report = made_by_hand();
  report.max_regions = 1;
  EXPECT_EQ(diff_text(report, "--max-regions"),
            "ALLOW -> ERRNO(1 EPERM): 16 inputs in 2 regions\n  nr == 0\n"
            "  ... 1 of 2 regions shown (--max-regions)\ndifferent: 16 of 2^512 inputs differ\n");
  EXPECT_EQ(to_json(report)["changes"][0]["regions"].size(), 1u);
  EXPECT_EQ(stored_json(report)["changes"][0]["regions"].size(), 2u);
}

TEST(DiffReport, RulesExplainRegions) {
  DiffReport report = made_by_hand();
  report.rules = {{{{{"old rule"}}, {{"new rule"}}}, {{{"old"}}, {{"new"}}}}};
  EXPECT_TRUE(diff_text(report).starts_with(
      "nr == 0: no longer allowed (now ERRNO(1 EPERM)), whatever the arguments\n"
      "  before: for example old rule\n  after:  for example new rule\n"))
      << diff_text(report);
  EXPECT_EQ(to_json(report)["changes"][0]["regions"][1]["after_rule"], "new");
  report.rules[0][0].before.always = true;
  EXPECT_NE(diff_text(report).find("  before: old rule\n  after:  for example new rule\n"),
            std::string::npos);
}

TEST(DiffReport, RulesHavePositions) {
  DiffReport report = made_by_hand();
  report.rules = {{{{{"old rule"}}, {{"new rule"}}}, {{{"old"}}, {{"new"}}}}};
  report.rules[0][0].after.rule.position.at =
      std::make_shared<RulePosition>(RulePosition{"b.json", 3, "syscalls[1]"});
  EXPECT_NE(diff_text(report).find(
                "  before: for example old rule\n  after:  for example b.json:3 (syscalls[1])\n"),
            std::string::npos)
      << diff_text(report);
  const auto row = to_json(report)["changes"][0]["regions"][0];
  EXPECT_EQ(row["after_origin"]["path"], "syscalls[1]");
  EXPECT_FALSE(row.contains("before_origin"));
  report.rules[0][1].before.rule.position.at =
      std::make_shared<RulePosition>(RulePosition{"a.json", 9, "syscalls[2]"});
  const ReportedCases all = reported(report, 20);
  ASSERT_EQ(all.cases.size(), 2u);
  EXPECT_EQ(all.cases[0].place->path, "b.json");
  EXPECT_EQ(all.cases[0].place->line, 3u);
  EXPECT_EQ(all.cases[1].place->line, 9u)
      << "no rule of the second policy matches, so the first policy's rule is shown";
  EXPECT_EQ(reported(report, 1).cases[0].place->line, 3u);
}

TEST(DiffReport, ComparesWithAStoredDifference) {
  DiffReport report = made_by_hand();
  const std::string stored = render(stored_json(report));
  const auto expected = read_expectation(stored, "stored.json");
  ASSERT_TRUE(expected) << expected.error().text();
  const auto lines = [&] {
    return *unexpected(*expected, "stored.json", stored_json(report), Arch::kX86_64);
  };
  EXPECT_TRUE(lines().empty());
  report.difference.changes[0].where = {{nr_is(0), nr_is(2)}, "16", "2"};
  report.comparison = {"stored.json", lines()};
  report.verdict = Verdict::kFail;
  EXPECT_EQ(diff_text(report),
            "+ ALLOW -> ERRNO(1 EPERM): nr == 2\n- ALLOW -> ERRNO(1 EPERM): nr == 1\n"
            "fail: not the same difference as in stored.json: 1 new region (+), 1 missing (-)\n");
  EXPECT_EQ(to_json(report)["unexpected"].size(), 2u);
  const ReportedCases cases = reported(report, 20);
  ASSERT_EQ(cases.cases.size(), 2u);
  EXPECT_EQ(cases.file, "stored.json");
  EXPECT_EQ(cases.exit_status, 1);
  EXPECT_FALSE(read_expectation("{}", "other.json"));
}

TEST(Regions, ARegionOfFewCallsBecomesARegionForEachCall) {
  const std::uint32_t audit = arch_info(Arch::kX86_64).audit;
  Region region = nr_is(0);
  region.words[0].intervals = {{0, 1}};
  region.words.push_back({kArchWord, audit, false, {0, 0}, {{audit, audit}}, {}});
  const std::vector<Region> calls = by_call(region, 2);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(condition_text(calls[1], Arch::kX86_64), "arch == x86_64 && nr == write");
  EXPECT_EQ(calls[1].example().nr(), 1u);
  EXPECT_EQ(by_call(region, 1), std::vector{region});
  region.words[0].negated = true;
  EXPECT_EQ(by_call(region, 1000), std::vector{region});
  EXPECT_EQ(by_call(nr_is(0), 1000), std::vector{nr_is(0)});  // on any architecture
}

TEST(DiffPage, NamesTheRulesOfEachCall) {
  const std::uint32_t audit = arch_info(Arch::kX86_64).audit;
  DiffReport report = made_by_hand();
  Region region = nr_is(0);
  region.words[0].intervals = {{0, 1}};
  region.words.push_back({kArchWord, audit, false, {0, 0}, {{audit, audit}}, {}});
  report.difference.changes[0].where = {{region}, "8", "1"};
  const auto rules = [](const char* before, const char* after, bool always) {
    return DiffReport::Rules{{{before}, always}, {{after}, always}};
  };
  report.rules = {{rules("old", "new", false)}};
  report.rules[0][0].of_calls = {rules("old read", "new read", false),
                                 rules("old write", "<new>", true)};
  report.direction.stricter.calls = {{Arch::kX86_64, 0, true}, {Arch::kX86_64, 1, true}};
  const Page page = diff_page(report);
  ASSERT_EQ(page.regions.size(), 2u);
  EXPECT_EQ(page.regions[1].call, "write");
  EXPECT_EQ(page.regions[0].rules[0].shown(), "for example old read");
  EXPECT_EQ(page.regions[1].rules[0].shown(), "old write");
  EXPECT_EQ(page.regions[1].condition, "") << "the call is the whole condition";
  const std::string text = html(page);
  EXPECT_NE(text.find("<b>2</b> calls closed"), std::string::npos);
  EXPECT_NE(text.find("<small>&lt;new&gt;</small>"), std::string::npos);
  EXPECT_NE(text.find("<header class=\"closed\">"), std::string::npos);
}

TEST(DiffReport, ReportsOneCaseForEachRegion) {
  const ReportedCases cases = reported(made_by_hand(), 1);
  ASSERT_EQ(cases.cases.size(), 2u) << "the second one counts the others";
  EXPECT_EQ(cases.cases[0].state, ReportedCase::State::kFail);
  EXPECT_TRUE(cases.cases[0].witness);
}

}  // namespace
}  // namespace secequiv::report_diff_test
