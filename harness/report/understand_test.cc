// Tests the renderers of actions, why, reach and run with report values made by hand.
#include <gtest/gtest.h>

#include "harness/report/actions.h"
#include "harness/report/oracle.h"
#include "harness/report/reach.h"
#include "harness/report/run.h"
#include "harness/report/why.h"

namespace secequiv::report_understand_test {
namespace {

constexpr std::uint32_t kAllow = 0x7fff0000;

SeccompData getpid() {
  SeccompData data;
  data.set_nr(39);
  data.set_arch(0xc000003e);
  return data;
}

TEST(ActionsReport, NamesCallsByAction) {
  const ReturnValue allow{kAllow, kAllow};
  const ReturnValue eperm{0x50001, 0x50000};
  const ActionsReport::Conditional open{"open", {{allow, "arg1 == 0x0"}, {eperm, "arg1 != 0x0"}}};
  ActionsReport report{
      {{Arch::kX86_64, {{0x50001, {"stat", "poll"}}, {kAllow, {"read", "write"}}}, {open}, 0x50001},
       {Arch::kI386, {{0, {"read"}}}, {}, 0},
       {Arch::kX32, {{0x50001, {"poll", "stat"}}, {kAllow, {"read", "write"}}}, {open}, 0x50001}}};
  EXPECT_EQ(actions_text(report),
            "x86_64, x32\n  ALLOW                   2: read, write\n"
            "  conditional             1: open\n"
            "    open: ALLOW if arg1 == 0x0, else ERRNO(1 EPERM)\n"
            "  ERRNO(1 EPERM)             all others\n"
            "i386\n  KILL_THREAD                all others\n");
  EXPECT_EQ(actions_text(report, true),
            "x86_64, x32\n  ALLOW                   2: read, write\n"
            "  conditional             1: open\n"
            "    open: ALLOW if arg1 == 0x0, else ERRNO(1 EPERM)\ni386\n  none\n");
  const auto json = to_json(report);
  EXPECT_FALSE(json["others_by_number"]);
  report.others_by_number = true;
  EXPECT_TRUE(
      actions_text(report).ends_with("every other architecture\n  decided by number, even if the "
                                     "number means another call there\n"));
  EXPECT_EQ(json["schema"], "secequiv.actions/1");
  EXPECT_EQ(json["arches"][0]["constant"][1]["action"], "ALLOW");
  EXPECT_EQ(json["arches"][0]["constant"][1]["syscalls"].size(), 2u);
  EXPECT_EQ(json["arches"][0]["others"][0], "open");
  EXPECT_EQ(json["arches"][0]["conditions"][0]["choices"][1]["condition"], "arg1 != 0x0");
  EXPECT_EQ(json["arches"][0]["otherwise"]["action"], "ERRNO(1 EPERM)");
  EXPECT_TRUE(json["arches"][1]["others"].empty());
  EXPECT_EQ(json["arches"].size(), 3u) << "JSON has every architecture";
}

TEST(WhyReport, ShowsConditionRuleAndTests) {
  WhyReport report{getpid(), kAllow, "nr == getpid", "1024", {}};
  report.filters.push_back({"a.json", kAllow, false, {"default action: no rule matches"}, {}});
  report.filters[0].tests = {{1, "jeq #0x27, 2, 3 -> true", "getpid"}, {3, "ret #0x7fff0000", ""}};
  const std::string text = why_text(report, true);
  EXPECT_NE(text.find("0x7fff0000 ALLOW\nbecause nr == getpid\n"), std::string::npos) << text;
  EXPECT_EQ(why_text(report, false).find("jeq"), std::string::npos) << "only with --trace";
  EXPECT_NE(text.find("(every input with this condition has the same result: 1024 in all)"),
            std::string::npos);
  EXPECT_NE(text.find("a.json\n  default action: no rule matches\n       1: jeq #0x27"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("; getpid\n"), std::string::npos);
  const auto json = to_json(report);
  EXPECT_FALSE(json["filters"][0].contains("decides")) << "only filters of a stack have it";
  EXPECT_EQ(json["filters"][0]["tests"][1]["instruction"], 3);
}

TEST(WhyReport, ShowsThePositionOfTheRule) {
  WhyReport report{getpid(), kAllow, "nr == getpid", "1024", {}};
  DecidingRule rule{"rule set 1 of 2 (ALLOW), getpid on x86_64", {}};
  rule.position.at = std::make_shared<RulePosition>(RulePosition{"a.json", 12, "syscalls[3]"});
  report.filters.push_back({"a.json (compiled)", kAllow, false, rule, {}});
  EXPECT_NE(why_text(report, true).find("a.json (compiled)\n  a.json:12 (syscalls[3])\n"),
            std::string::npos)
      << why_text(report, true);
  const auto row = to_json(report)["filters"][0];
  EXPECT_EQ(row["rule"], "rule set 1 of 2 (ALLOW), getpid on x86_64");
  EXPECT_EQ(row["origin"]["line"], 12);
  EXPECT_FALSE(row["origin"].contains("condition"));
  EXPECT_FALSE(row.contains("other_origins"));
  for (const std::size_t line : {15u, 18u})
    report.filters[0].rule.others.push_back(
        {std::make_shared<RulePosition>(RulePosition{"a.json", line, "syscalls[4]"})});
  EXPECT_NE(why_text(report, false)
                .find("  other rules for this call with the same action: a.json:15 (syscalls[4]), "
                      "a.json:18 (syscalls[4])\n"),
            std::string::npos)
      << why_text(report, false);
  EXPECT_EQ(to_json(report)["filters"][0]["other_origins"][1]["line"], 18);
}

WhyReport::Other other(WhyReport::Other::Kind kind, const char* condition, std::uint32_t value) {
  return {kind, condition, {value, value & 0xffff0000}};
}

TEST(WhyReport, TheFirstLineShowsWhatWouldChangeTheDecision) {
  using Kind = WhyReport::Other::Kind;
  WhyReport report{getpid(), 0x50001, "nr == getpid", "1024", {}};
  report.filters.push_back(
      {"a.json", 0x50001, false, {"default action", {}, true}, "no rule for getpid", {}});
  EXPECT_EQ(headline(report), "ERRNO(1 EPERM): no rule for getpid");
  report.others = {other(Kind::kCapability, "with CAP_A", kAllow),
                   other(Kind::kCapability, "with CAP_B", kAllow),
                   other(Kind::kArgument, "if arg0 != 0x1", 0x50002)};
  report.others[0].missing = "without CAP_A";
  report.others[1].missing = "without CAP_B";
  report.others[0].position.at = std::make_shared<RulePosition>(RulePosition{"a.json", 812});
  EXPECT_EQ(headline(report),
            "ERRNO(1 EPERM): no rule for getpid without CAP_A or CAP_B; it would be ALLOW with "
            "CAP_A (a.json:812)");
  const std::string text = why_text(report, false);
  EXPECT_NE(text.find("(a.json:812)\n  it would be ALLOW with CAP_B\n"
                      "  it would be ERRNO(2 ENOENT) if arg0 != 0x1\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(to_json(report)["others"][0]["origin"]["line"], 812);
  report.result = kAllow;
  EXPECT_EQ(headline(report), "ALLOW: no rule for getpid without CAP_A or CAP_B")
      << "the lines below list what an allowed call could lose";
}

TEST(WhyReport, UnknownArgumentsGiveEveryPossibleDecision) {
  using Kind = WhyReport::Other::Kind;
  WhyReport report{getpid(), kAllow, "true", "1", {}};
  report.recorded = 0x50000;
  EXPECT_FALSE(report.explains_record());
  EXPECT_TRUE(
      why_text(report, false)
          .starts_with("the record's action is ERRNO, which this filter does not return here"));
  report.possible = {other(Kind::kArgument, "if arg0 == 0x1", kAllow),
                     other(Kind::kArgument, "if arg0 != 0x1", 0x50001)};
  EXPECT_EQ(why_text(report, false),
            "depends on the arguments, which the record does not have\n"
            "  ALLOW if arg0 == 0x1\n  ERRNO(1 EPERM) if arg0 != 0x1\n"
            "the record's action is ERRNO, which agrees with this filter\n"
            "nr=39 (getpid) arch=0xc000003e (x86_64) ip=0x0 args=[]\n");
  const auto json = to_json(report);
  EXPECT_EQ(json["possible"].size(), 2u);
  EXPECT_FALSE(json.contains("result")) << "a result for some arguments only is omitted";
}

TEST(WhyReport, NamesTheFilterOfAStackThatDecides) {
  WhyReport report{getpid(), 0, "true", "1", {}};
  report.filters = {{"a", kAllow, false, {}, {}}, {"b", 0, true, {}, {}}};
  EXPECT_NE(why_text(report, true).find("b: 0x00000000 KILL_THREAD, which decides\n"),
            std::string::npos)
      << why_text(report, true);
  EXPECT_EQ(to_json(report)["filters"][1]["decides"], true);
  EXPECT_FALSE(to_json(report)["filters"][1].contains("rule"));
}

TEST(WhyReport, ShortensLongListsOfTests) {
  WhyReport report{getpid(), 0, "true", "1", {{"a", 0, false, {}, {}}}};
  for (std::size_t pc = 0; pc < 30; ++pc) report.filters[0].tests.push_back({pc, "ja", ""});
  const std::string text = why_text(report, true);
  EXPECT_NE(text.find("... 6 more tests ..."), std::string::npos);
  EXPECT_NE(text.find("    11: ja"), std::string::npos);
  EXPECT_EQ(text.find("    12: ja"), std::string::npos);
  EXPECT_NE(text.find("    18: ja"), std::string::npos);
  EXPECT_EQ(to_json(report)["filters"][0]["tests"].size(), 30u);
}

TEST(ReachReport, ShowsInputsOrThatThereAreNone) {
  ReachReport report{true, {}};
  report.rows.push_back(
      {{1, Obligation::Kind::kTrue}, "true", "jeq #1", "5", "3", getpid(), {"a"}});
  report.rows.push_back({{2, Obligation::Kind::kLine}, "", "ret #0", "0", "0", {}, {}});
  const std::string text = reach_text(report, "--max-regions");
  EXPECT_NE(text.find("     1 true  jeq #1"), std::string::npos) << text;
  EXPECT_NE(text.find("5 inputs, for example nr=39"), std::string::npos);
  EXPECT_NE(text.find("... 1 of 3 regions shown (--max-regions)\n"), std::string::npos);
  EXPECT_NE(text.find("infeasible: no input reaches it\n"), std::string::npos);
  report.rows[0].count = "1";
  EXPECT_NE(reach_text(report).find("1 input, for example nr=39"), std::string::npos);
  EXPECT_NE(reach_text(report).find("1 of 3 regions shown\n"), std::string::npos);
  const auto json = to_json(report);
  EXPECT_EQ(json["obligations"][0]["kind"], "true");
  EXPECT_EQ(json["obligations"][0]["regions"][0], "a");
  EXPECT_FALSE(json["obligations"][1].contains("smallest"));
}

TEST(RunReport, ShowsStepsOnlyIfRequested) {
  const Program program = {Insn{kLdxImm, 0, 0, 7}, Insn{6, 0, 0, kAllow}};
  RunReport report{getpid(), {{"a", program, trace(program, getpid())}}, kAllow};
  EXPECT_TRUE(run_text(report).ends_with("\n0x7fff0000 ALLOW\n"));
  EXPECT_FALSE(to_json(report)["filters"][0].contains("steps"));
  EXPECT_FALSE(to_json(report).contains("verdict"));
  report.steps = true;
  EXPECT_NE(run_text(report).find("a\n     0: A=0x00000000"), std::string::npos)
      << run_text(report);
  const auto steps = to_json(report)["filters"][0]["steps"];
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1]["a"], 0);
  EXPECT_EQ(steps[1]["x"], 7);
}

TEST(RunReport, AnOracleThatDisagreesFails) {
  RunReport report{getpid(), {}, kAllow};
  report.oracle.emplace();
  report.oracle->programs.emplace_back().name = "a";
  EXPECT_EQ(to_json(report)["verdict"], "pass");
  report.oracle->programs[0].disagreement = Disagreement{getpid(), kAllow, 0};
  EXPECT_EQ(to_json(report)["verdict"], "fail");
  EXPECT_TRUE(run_text(report).ends_with(doubt_text(*report.oracle)));
}

}  // namespace
}  // namespace secequiv::report_understand_test
