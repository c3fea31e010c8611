// Tests each form of the report about a property with values made by hand.
#include "harness/report/prove_property.h"

#include <gtest/gtest.h>

#include <utility>

#include "harness/bpf/testing.h"

namespace secequiv::report_prove_property_test {
namespace {

constexpr const char* kAllowOne = "ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n";

ClauseReport clause(std::string_view text, Verdict verdict, const std::string& property = "p") {
  ClauseReport out;
  out.property = property;
  auto parsed = parse_property(text, "p", Arch::kX86_64);
  EXPECT_TRUE(parsed) << text;
  out.clause = std::move(parsed->clauses.front());
  ProveReport& proof = out.proof;
  std::vector<SideReport> filter = {{"f.asm", assemble(kAllowOne), {}}};
  std::vector<SideReport> bound = {{"bound", assemble("ret #0x50000\n"), {}}};
  if (out.filter_is_before()) std::swap(filter, bound);
  proof.before = std::move(bound);
  proof.after = std::move(filter);
  proof.proof.verdict = verdict;
  proof.proof.engine = "dd";
  if (verdict == Verdict::kUnknown) proof.proof.detail = "time ran out";
  if (verdict != Verdict::kDifferent) return out;
  SeccompData data{};
  data.words[kNrWord] = 39;
  data.words[kArchWord] = AUDIT_ARCH_X86_64;
  proof.proof.witness = Witness{data, 0x50000, 0x7fff0000};
  if (out.filter_is_before()) proof.proof.witness = Witness{data, 0x50001, 0x7ffc0000};
  proof.proof.minimal = true;
  return out;
}

template <class... Clauses>
PropertyReport report_of(Clauses... clauses) {
  PropertyReport out;
  out.subject = "f.asm";
  out.file = {"f.asm", false, {2, 3, 4, 5}};
  (out.clauses.push_back(std::move(clauses)), ...);
  return out;
}

TEST(PropertyReport, AViolatedClauseOutweighsAnUndecidedOne) {
  const auto proven = [] { return clause("killed: read", Verdict::kPass); };
  const auto same = [] { return clause("killed: read", Verdict::kEquivalent); };
  const auto unknown = [] { return clause("killed: read", Verdict::kUnknown); };
  const auto violated = [] { return clause("killed: read", Verdict::kDifferent); };
  EXPECT_EQ(report_of(proven(), same()).verdict(), Verdict::kPass);
  EXPECT_EQ(report_of(proven(), unknown()).verdict(), Verdict::kUnknown);
  EXPECT_EQ(report_of(unknown(), violated(), proven()).verdict(), Verdict::kFail);
  const std::string text = property_text(report_of(unknown(), violated(), proven()));
  EXPECT_TRUE(text.ends_with("fail: 3 clauses: 1 proven, 1 violated, 1 undecided\n")) << text;
  EXPECT_TRUE(text.starts_with("unknown: p:1: killed: read\n  dd: time ran out\n")) << text;
}

TEST(PropertyReport, TheTextShowsTheFiltersResultOnEitherSide) {
  const std::string refused =
      property_text(report_of(clause("refused: getpid", Verdict::kDifferent, "")));
  EXPECT_NE(refused.find("violated: refused: getpid\nwitness: nr=39 (getpid) "), std::string::npos)
      << refused;
  EXPECT_NE(refused.find("  returns 0x7fff0000 ALLOW: instruction 2\n"
                         "  wanted  refused (at most ERRNO)\n"),
            std::string::npos)
      << refused;
  const std::string allowed =
      property_text(report_of(clause("allowed: getpid", Verdict::kDifferent)));
  EXPECT_NE(allowed.find("  returns 0x00050001 ERRNO(1 EPERM): instruction 2\n"
                         "  wanted  allowed (at least LOG)\n"),
            std::string::npos)
      << allowed;
}

TEST(PropertyReport, AnExcludedClauseIsNotCalledProven) {
  PropertyReport report = report_of(clause("killed: read", Verdict::kUnknown));
  report.clauses[0].vacuous = true;
  report.assumed = "nr == 5";
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  EXPECT_TRUE(property_text(report).starts_with("assuming nr == 5\nexcluded: p:1: "));
  EXPECT_EQ(to_json(report)["clauses"][0]["excluded"], true);
  EXPECT_EQ(to_json(report)["assume"], "nr == 5");
}

TEST(PropertyReport, CasesPointAtTheInstructionOrTheRule) {
  PropertyReport report = report_of(clause("refused: getpid", Verdict::kDifferent),
                                    clause("killed: read", Verdict::kPass));
  ReportedCases cases = reported(report);
  ASSERT_EQ(cases.cases.size(), 2u);
  EXPECT_EQ(cases.verdict, Verdict::kFail);
  EXPECT_EQ(cases.cases[0].state, ReportedCase::State::kFail);
  EXPECT_EQ(cases.cases[0].name, "p:1: refused: getpid");
  ASSERT_TRUE(cases.cases[0].place);
  EXPECT_EQ(cases.cases[0].place->path, "f.asm");
  EXPECT_EQ(cases.cases[0].place->line, 4u);
  EXPECT_EQ(cases.cases[1].state, ReportedCase::State::kPass);
  report.clauses[0].proof.after[0].of_policy = true;
  report.clauses[0].proof.rules.after = {
      "a rule", {std::make_shared<const RulePosition>(RulePosition{"p.json", 7})}};
  cases = reported(report);
  ASSERT_TRUE(cases.cases[0].place);
  EXPECT_EQ(cases.cases[0].place->path, "p.json");
  EXPECT_EQ(cases.cases[0].place->line, 7u);
}

TEST(PropertyReport, ARejectedFilterHasNoClauses) {
  PropertyReport report;
  report.subject = "f.asm";
  report.rejection = Rejection{"f.asm", "it is wrong", "f.asm:3"};
  EXPECT_EQ(report.verdict(), Verdict::kRejected);
  EXPECT_EQ(property_text(report), "rejected: f.asm:3: it is wrong\n");
  EXPECT_EQ(to_json(report)["detail"], "it is wrong");
  EXPECT_EQ(reported(report).exit_status, exit_code(Verdict::kRejected));
}

}  // namespace
}  // namespace secequiv::report_prove_property_test
