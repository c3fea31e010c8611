// Tests reports about rewrites with values made by hand.
#include "harness/report/prove_rule.h"

#include <gtest/gtest.h>

namespace secequiv::report_prove_rule_test {
namespace {

ProvenRule proven() {
  ProvenRule out;
  out.name = "and-and";
  out.where = "x.rule:3";
  out.proof = Verdict::kEquivalent;
  out.members = 1;
  return out;
}

ProvenRule refuted(const std::string& expected) {
  ProvenRule out = proven();
  out.name = "wrong";
  out.expected = expected;
  out.proof = Verdict::kDifferent;
  out.counterexample = {"exit",
                        {{"n", 2}},
                        {{"$m", 0}, {"A", 0}, {"X", 7}},
                        1,
                        "before goes to yes, after returns 0x1"};
  return out;
}

TEST(ProveRuleReport, TextShowsSymbolsAndNonZeroValues) {
  EXPECT_EQ(prove_rule_text({proven(), refuted("exit")}, false),
            "and-and: proven\n"
            "wrong: refuted (exit), as expected\n"
            "  n = 2, $m = 0x0, X = 0x7: before goes to yes, after returns 0x1\n"
            "pass: 2 rules: 1 proven, 1 refuted\n");
  EXPECT_EQ(prove_rule_text({proven(), refuted("exit")}, true),
            "pass: 2 rules: 1 proven, 1 refuted\n");
}

TEST(ProveRuleReport, AnOutcomeOtherThanExpectedFails) {
  EXPECT_EQ(refuted("").verdict(), Verdict::kFail);
  EXPECT_EQ(refuted("value").verdict(), Verdict::kFail);
  ProvenRule unrefuted = proven();
  unrefuted.expected = "exit";
  EXPECT_EQ(prove_rule_text({unrefuted}, true),
            "and-and: proven, expected refuted (exit)\n"
            "fail: 1 rule: 1 proven, 0 refuted; 1 not as expected\n");
}

TEST(ProveRuleReport, UnknownIsNotAPass) {
  ProvenRule unknown = proven();
  unknown.proof = Verdict::kUnknown;
  unknown.detail = "time limit";
  EXPECT_EQ(prove_rule_text({unknown}, true),
            "and-and: unknown: time limit\nunknown: 1 rule: 0 proven, 0 refuted, 1 unknown\n");
  ProvenRule half = proven();
  half.weakest.emplace().detail = "time limit";
  EXPECT_EQ(verdict_of({half}), Verdict::kUnknown);
  EXPECT_EQ(verdict_of({half, refuted("")}), Verdict::kFail);
}

TEST(ProveRuleReport, ShowsWeakestConditionsAndWhetherTheyAreExact) {
  ProvenRule rule = proven();
  rule.weakest.emplace(Verdict::kEquivalent, std::vector<std::string>{"$m == 0", "$m < $n"});
  const auto last = [&] {
    const std::string text = prove_rule_text({rule}, true);
    EXPECT_NE(text.find("  sufficient: $m == 0\n          or: $m < $n\n"), std::string::npos)
        << text;
    return text;
  };
  EXPECT_NE(last().find("it is unknown whether the rule is right for other values, too"),
            std::string::npos);
  rule.weakest->exact = ProvenRule::Weakest::Exact::kNo;
  rule.weakest->outside = {{"$m", 5}};
  EXPECT_NE(last().find("the rule is also right for other values: $m = 0x5\n"), std::string::npos);
  EXPECT_EQ(to_json(ShownRules{{rule}})["rules"][0]["weakest"]["outside"].dump(), "[5]");
  rule.weakest->exact = ProvenRule::Weakest::Exact::kYes;
  EXPECT_NE(prove_rule_text({rule}, true).find("  weakest: $m == 0\n       or: $m < $n\n"),
            std::string::npos);
}

TEST(ProveRuleReport, HasJsonAndCases) {
  const auto document = to_json(ShownRules{{proven(), refuted("")}});
  EXPECT_EQ(document["schema"], "secequiv.prove-rule/1");
  EXPECT_EQ(document["verdict"], "fail");
  EXPECT_EQ(document["rules"][0]["expected"], "proven");
  EXPECT_EQ(document["rules"][1]["counterexample"]["values"].dump(), R"({"$m":0,"A":0,"X":7})");
  const ReportedCases cases = prove_rule_cases({proven(), refuted("")});
  EXPECT_EQ(cases.exit_status, 1);
  ASSERT_EQ(cases.cases.size(), 2u);
  EXPECT_EQ(cases.cases[0].state, ReportedCase::State::kPass);
  EXPECT_EQ(cases.cases[1].state, ReportedCase::State::kFail);
  EXPECT_EQ(cases.cases[1].place->path, "x.rule");
  EXPECT_EQ(cases.cases[1].place->line, 3u);
}

}  // namespace
}  // namespace secequiv::report_prove_rule_test
