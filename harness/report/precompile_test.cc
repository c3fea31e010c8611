// Tests reports about precompiled filters with values made by hand.
#include "harness/report/precompile.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::report_precompile_test {
namespace {

PrecompileReport unproven() {
  PrecompileReport out;
  out.policy = "small\n";
  out.instructions = 9;
  out.variables = {{"fd", 3, {2, 5}}, {"pid", 70000, {7}}, {"unused", 1, {}}};
  return out;
}

PrecompileReport with_verdict(Verdict verdict) {
  PrecompileReport out = unproven();
  out.proof.emplace().verdict = verdict;
  out.proof->engine = "z3";
  return out;
}

TEST(PrecompileReport, TextListsTheVariables) {
  EXPECT_EQ(precompile_text(unproven(), "p.json"),
            "p.json: 9 instructions\n"
            "variable fd = 0x3: instructions 2, 5\n"
            "variable pid = 0x11170: instruction 7\n"
            "variable unused = 0x1: the program does not contain it\n");
}

TEST(PrecompileReport, AssemblyMayBeWrittenUnlessAProofFailed) {
  EXPECT_TRUE(unproven().may_be_written());
  EXPECT_TRUE(with_verdict(Verdict::kEquivalent).may_be_written());
  EXPECT_FALSE(with_verdict(Verdict::kDifferent).may_be_written());
  EXPECT_FALSE(with_verdict(Verdict::kUnknown).may_be_written());
  EXPECT_NE(precompile_text(with_verdict(Verdict::kUnknown), "p").find("nothing was written"),
            std::string::npos);
}

TEST(PrecompileReport, AWitnessComesWithItsValues) {
  PrecompileReport report = with_verdict(Verdict::kDifferent);
  report.before = assemble("ret #0\n");
  report.after = assemble("ret #0x7fff0000\n");
  report.proof->symbols = {8, 9, 10};
  report.proof->witness = Witness{SeccompData{}, 0, 0x7fff0000};
  const std::string text = precompile_text(report, "p");
  EXPECT_NE(text.find("with\n  $fd         = 0x00000008\n"), std::string::npos) << text;
  EXPECT_NE(text.find("witness: "), std::string::npos) << text;
  const auto document = to_json(report);
  EXPECT_EQ(document["values"][2]["name"], "unused");
  EXPECT_EQ(document["values"][2]["value"], 10);
  EXPECT_EQ(document["written"], false);
  EXPECT_TRUE(document.contains("witness"));
}

TEST(PrecompileReport, WithoutAProofJsonHasNoVerdict) {
  const auto document = to_json(unproven());
  EXPECT_FALSE(document.contains("verdict"));
  EXPECT_FALSE(document.contains("engine"));
  EXPECT_EQ(document["variables"][0]["places"].dump(), "[2,5]");
}

TEST(PrecompileReport, TheHeaderConsistsOfComments) {
  EXPECT_EQ(precompile_header(unproven()),
            "; small\\x0a: set the variables with 'secequiv asm --set NAME=VALUE'; the policy has "
            "these values:\n"
            ";   $fd = 0x3\n;   $pid = 0x11170\n;   $unused = 0x1\n");
  EXPECT_EQ(precompile_header({}), "; : the policy has no variables\n");
}

}  // namespace
}  // namespace secequiv::report_precompile_test
