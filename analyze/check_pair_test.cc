#include "analyze/check_pair.h"

#include <gtest/gtest.h>

#include "harness/base/interrupt.h"
#include "harness/bpf/testing.h"

namespace secequiv::analyze_check_pair_test {
namespace {

CheckReport check_text_pair(std::string_view before, std::string_view after,
                            std::span<const SeccompData> inputs = {}, double timeout = 30) {
  CheckOptions options;
  options.budget.timeout_seconds = timeout;
  auto report =
      check_pair(SideReport{"before", assemble(before), {}},
                 SideReport{"after", assemble(after), {}}, Sameness::kRaw, inputs, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().text());
  return report ? *report : CheckReport{};
}

SeccompData number(std::uint32_t nr) {
  SeccompData data;
  data.set_nr(nr);
  return data;
}

constexpr const char* kAllow39 = "ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0\n";

TEST(CheckPair, PassAccountsForEveryObligation) {
  const auto report = check_text_pair(
      kAllow39, "ld [0]\njeq #39, y, n\nn: jeq #39, y, m\ny: ret #0x7fff0000\nm: ret #0\n");
  EXPECT_EQ(report.verdict, Verdict::kPass);
  EXPECT_EQ(report.obligations, 9u);
  EXPECT_EQ(report.covered_by_inputs + report.covered_by_witnesses + report.infeasible.size(),
            report.obligations);
  ASSERT_EQ(report.infeasible.size(), 1u);
  EXPECT_EQ(report.infeasible[0], (Obligation{2, Obligation::Kind::kTrue}));
  EXPECT_TRUE(report.open.empty());
  EXPECT_NE(report.listing.find("+-+"), std::string::npos) << report.listing;
}

TEST(CheckPair, DerivedInputsFindTheDifferenceFirst) {
  const SeccompData inputs[] = {number(1), number(39), number(40)};
  const auto report = check_text_pair(kAllow39, "ret #0\n", inputs);
  EXPECT_EQ(report.verdict, Verdict::kDifferent);
  EXPECT_EQ(report.evaluations, 2u);
  EXPECT_EQ(report.witness->data.nr(), 39u);
  EXPECT_FALSE(report.proof);
}

TEST(CheckPair, AnEdgeThatOnlyTheProverReachesShowsTheDifference) {
  const SeccompData inputs[] = {number(1)};
  const auto report =
      check_text_pair(kAllow39, "ld [0]\njeq #39, y, n\ny: ret #0x7fff0001\nn: ret #0\n", inputs);
  EXPECT_EQ(report.verdict, Verdict::kDifferent);
  EXPECT_EQ(report.witness->after, 0x7fff0001u);
  EXPECT_FALSE(report.proof) << "the edge's witness should have shown it before the proof";
}

TEST(CheckPair, OnlyTheProofFindsWhatTheOptimizedProgramOmits) {
  const auto report = check_text_pair(kAllow39, "ret #0\n");
  EXPECT_EQ(report.verdict, Verdict::kDifferent);
  ASSERT_TRUE(report.proof);
  EXPECT_EQ(report.witness->data.nr(), 39u);
}

TEST(CheckPair, LengthMattersOnlyForTheOptimizedSide) {
  std::string padding = "ld #0\n";
  std::string text;
  for (int i = 0; i < 4100; ++i) text += padding;
  text += "ret #0\n";
  EXPECT_EQ(check_text_pair(text, "ret #0\n").verdict, Verdict::kPass);
  const auto rejected = check_text_pair("ret #0\n", text);
  EXPECT_EQ(rejected.verdict, Verdict::kRejected);
  EXPECT_NE(rejected.reason.find("4096"), std::string::npos) << rejected.reason;
}

TEST(CheckPair, AnInterruptedRunWithoutAProofIsUnknown) {
  StopToken token;
  const Heed heed(&token);
  token.stop();
  const Program program = assemble("ld [0]\nret a\n");
  CheckOptions options;
  options.prove = false;
  for (const std::size_t count : {1u, 100'000u}) {
    const std::vector<SeccompData> inputs(count);
    const auto report =
        check_pair(SideReport{"before", program, {}}, SideReport{"after", program, {}},
                   Sameness::kRaw, inputs, options);
    ASSERT_TRUE(report) << report.error().text();
    const bool all = report->evaluations == count;
    EXPECT_EQ(all, count == 1);
    EXPECT_EQ(report->verdict, all ? Verdict::kPass : Verdict::kUnknown) << report->reason;
  }
}

TEST(CheckPair, RefusedProgramsAreNotRun) {
  const auto report = check_text_pair("ld [0]\nld M[3]\nret a\n", "ret #0\n");
  EXPECT_EQ(report.verdict, Verdict::kRejected);
  EXPECT_NE(report.reason.find("mem_unset at instruction 1"), std::string::npos) << report.reason;
  EXPECT_EQ(report.evaluations, 0u);
}

// Returns an oracle that agrees with the interpreter, except on one input of one program.
Oracle oracle_that_denies(std::size_t liar, std::uint32_t nr) {
  return [=](std::span<const NamedProgram> programs,
             std::span<const SeccompData> inputs) -> Result<OracleReport> {
    OracleReport out;
    out.who = "a liar";
    for (std::size_t i = 0; i < programs.size(); ++i) {
      AskedProgram row;
      row.name = programs[i].first;
      row.inputs = inputs.size();
      for (const SeccompData& input : inputs)
        if (i == liar && input.nr() == nr)
          row.disagreement = Disagreement{input, run(programs[i].second, input), 0x12345678};
      out.programs.push_back(row);
    }
    return out;
  };
}

CheckReport asked(std::string_view before, std::string_view after, const Oracle& oracle) {
  const SeccompData inputs[] = {number(1), number(39)};
  CheckOptions options;
  options.oracle = oracle;
  auto report =
      check_pair(SideReport{"before", assemble(before), {}},
                 SideReport{"after", assemble(after), {}}, Sameness::kRaw, inputs, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().text());
  return report ? *report : CheckReport{};
}

TEST(CheckPair, AnOracleThatContradictsTheInterpreterOverridesEveryVerdict) {
  for (const std::size_t liar : {0u, 1u}) {
    const auto report = asked(kAllow39, kAllow39, oracle_that_denies(liar, 39));
    EXPECT_EQ(report.verdict, Verdict::kFail);
    EXPECT_NE(report.reason.find("but our interpreter may be wrong"), std::string::npos);
    ASSERT_TRUE(report.oracle && report.oracle->in_doubt());
    EXPECT_EQ(report.oracle->in_doubt()->name, liar == 0 ? "before" : "after");
    EXPECT_EQ(report.oracle->in_doubt()->disagreement->model, 0x7fff0000u);
  }
  const auto differ = asked(kAllow39, "ret #0\n", oracle_that_denies(1, 39));
  EXPECT_EQ(differ.verdict, Verdict::kFail);
  EXPECT_TRUE(differ.witness);
}

TEST(CheckPair, AnOracleThatAgreesChangesNothing) {
  const Oracle none = oracle_that_denies(2, 0);
  EXPECT_EQ(asked(kAllow39, kAllow39, none).verdict, Verdict::kPass);
  const auto differ = asked(kAllow39, "ret #0\n", none);
  EXPECT_EQ(differ.verdict, Verdict::kDifferent);
  EXPECT_EQ(differ.oracle->programs.size(), 2u);
}

// No derived input has nr 7, so only the prover's input for the edge shows the wrong result.
TEST(CheckPair, TheOracleRunsTheProversInputs) {
  const char* program = "ld [0]\njeq #7, y, n\ny: ret #1\nn: ret #0\n";
  EXPECT_EQ(asked(program, program, oracle_that_denies(1, 7)).verdict, Verdict::kFail);
}

TEST(CheckPair, AFilterThatTheOracleCannotRunPreventsAPass) {
  for (const bool installable : {true, false}) {
    const auto report = asked(kAllow39, kAllow39, [&](auto programs, auto) -> Result<OracleReport> {
      OracleReport out;
      out.programs.resize(programs.size());
      out.programs[0].not_asked = "too long";
      out.programs[0].installable = installable;
      return out;
    });
    EXPECT_EQ(report.verdict, installable ? Verdict::kUnknown : Verdict::kPass);
    EXPECT_NE(report.reason.find("did not run"), std::string::npos) << report.reason;
  }
  const SeccompData inputs[] = {number(1)};
  CheckOptions options;
  options.oracle = [](auto, auto) -> Result<OracleReport> {
    return make_error(ErrorCode::kUnavailable, "kernel", "nobody there");
  };
  const auto failed =
      check_pair(SideReport{"before", assemble(kAllow39), {}},
                 SideReport{"after", assemble(kAllow39), {}}, Sameness::kRaw, inputs, options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
}

TEST(CheckPair, ALostCachedCallFailsEvenIfOtherResultsAreUnknown) {
  const std::string_view loads = "ld [0]\njeq #39, y, n\ny: ld [16]\nret #0x7fff0000\nn: ret #0\n";
  const auto report = check_text_pair(kAllow39, loads);
  EXPECT_EQ(report.verdict, Verdict::kFail);
  EXPECT_NE(report.reason.find("2 system calls"), std::string::npos) << report.reason;
  ASSERT_TRUE(report.proof);
  EXPECT_EQ(report.proof->verdict, Verdict::kEquivalent);
  EXPECT_EQ(check_text_pair(loads, kAllow39).verdict, Verdict::kPass);
}

// x * y and (x & y) * (x | y) + (x & ~y) * (~x & y) are equal, but a bit-blasting solver cannot
// prove it within a second.
constexpr const char* kProduct = "ld [16]\ntax\nld [20]\nmul x\n";
constexpr const char* kMixed =
    "ld [16]\ntax\nld [20]\nand x\nst M[0]\nld [20]\nor x\nldx M[0]\nmul x\nst M[1]\nld "
    "[16]\ntax\nld [20]\nxor #0xffffffff\nand x\nst M[2]\nld [16]\nxor #0xffffffff\ntax\nld "
    "[20]\nand x\nldx M[2]\nmul x\nldx M[1]\nadd x\n";

TEST(CheckPair, AnExhaustedLimitIsUnknown) {
  const auto report =
      check_text_pair(std::string(kProduct) + "ret a\n", std::string(kMixed) + "ret a\n", {}, 0.3);
  EXPECT_EQ(report.verdict, Verdict::kUnknown);
  EXPECT_FALSE(report.witness);
}

TEST(CheckPair, AnUndecidedEdgeNeverPasses) {
  // The false edge needs an input on which the two products differ. The pair is proven equivalent
  // because both programs are identical.
  const std::string hard = std::string(kProduct) + "st M[3]\n" + kMixed +
                           "ldx M[3]\njeq x, same, odd\nodd: ret #1\nsame: ret #0\n";
  const auto report = check_text_pair(hard, hard, {}, 0.5);
  EXPECT_EQ(report.verdict, Verdict::kUnknown);
  EXPECT_FALSE(report.open.empty());
}

}  // namespace
}  // namespace secequiv::analyze_check_pair_test
