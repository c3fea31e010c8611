// Tests the parts of the hunt other than its loop: growth of time, evaluators, grouping, and files.
#include <gtest/gtest.h>

#include <chrono>

#include "fuzz/hunt/evaluators.h"
#include "fuzz/hunt/scaling.h"
#include "fuzz/hunt/shape.h"
#include "fuzz/hunt/store.h"
#include "fuzz/hunt/testing.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/policy/testing.h"

namespace secequiv::hunt::parts_test {
namespace {

TEST(Scaling, ReportsTimeThatGrowsTooFast) {
  // Only the optimizer makes this clock advance, so that a busy machine changes nothing.
  Clock::time_point time;
  const auto now = [&] { return time; };
  FakeOptimizer cubic([&](ProgramView p) {
    const double size = static_cast<double>(p.size()) / 4096;
    time += std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(size * size * size * 0.12));
    return same(p);
  });
  HuntOptions options = options_for(1);
  const auto rows = measure_scaling(cubic, options, {}, now);
  ASSERT_GE(rows.size(), 10u);
  for (const ScalingRow& row : rows) EXPECT_TRUE(too_slow(row)) << row.family;
  FakeOptimizer linear([&](ProgramView p) {
    time += std::chrono::microseconds(p.size() * 25);
    return same(p);
  });
  for (const ScalingRow& row : measure_scaling(linear, options, {}, now)) {
    EXPECT_GE(row.sizes.back(), 4000u) << row.family;
    EXPECT_FALSE(too_slow(row)) << row.family;
  }
}

TEST(Scaling, EndsAFamilyAsSoonAsItIsTooSlow) {
  Clock::time_point time;
  FakeOptimizer slow([&](ProgramView p) {
    time += std::chrono::milliseconds(5 * p.size());
    return same(p);
  });
  for (const ScalingRow& row : measure_scaling(slow, options_for(1), {}, [&] { return time; })) {
    EXPECT_TRUE(too_slow(row)) << row.family;
    EXPECT_LT(row.seconds.back(), 5) << row.family;
  }
}

TEST(Scaling, OneFindingShowsAllSlowFamilies) {
  const std::vector<ScalingRow> rows = {{"fast", {1024, 4096}, {0.1, 0.2}, 1.0},
                                        {"slow", {1024, 4096}, {1.0, 5.0}, 1.2},
                                        {"known", {1024, 4096}, {1.0, 9.0}, 1.6},
                                        {"slower", {1024, 4096}, {1.0, 6.0}, 1.3}};
  const auto slow = slow_families(rows, {"known"}, false);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->worst, "slower");
  EXPECT_TRUE(slow->detail.starts_with("slower: 6 s for 4096 instructions")) << slow->detail;
  EXPECT_TRUE(slow->detail.ends_with("; also slow: slow")) << slow->detail;
  const auto known = slow_families(rows, {"known"}, true);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->worst, "known");
  EXPECT_EQ(known->detail.find("also"), std::string::npos) << known->detail;
  EXPECT_FALSE(slow_families(rows, {}, true));
}

TEST(Scaling, LimitsGrowthAndTotalTime) {
  EXPECT_FALSE(too_slow({"quadratic", {1024, 2048, 4096}, {0.05, 0.2, 0.8}, 2.0}));
  EXPECT_TRUE(too_slow({"cubic", {1024, 2048, 4096}, {0.01, 0.08, 0.64}, 3.0}));
  EXPECT_FALSE(too_slow({"cubic but fast", {1024, 2048, 4096}, {1e-5, 8e-5, 64e-5}, 3.0}));
  EXPECT_TRUE(too_slow({"long", {1024, 2048, 4096}, {1.0, 2.0, 4.0}, 1.0}));
}

TEST(HuntEvaluator, AnAgreeingEvaluatorPasses) {
  FakeEvaluator evaluator([](ProgramView p, const SeccompData& data) { return run(p, data); });
  const auto source = generated_programs();
  const auto report = hunt_evaluator("fake", evaluator, *source, {}, options_for(300));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::kPass) << report->reason;
  EXPECT_GT(report->evaluations, 5000u);
}

TEST(HuntEvaluator, ReducesADisagreementToOneInstructionAndOneWord) {
  // This evaluator treats NEG as a load of 7.
  FakeEvaluator evaluator([](ProgramView p, const SeccompData& data) {
    Program wrong;
    for (const Insn& in : p) wrong.push_back(in.code == kNeg ? Insn{kLdImm, 0, 0, 7} : in);
    return run(wrong, data);
  });
  const auto source = generated_programs();
  HuntOptions options = options_for(3000);
  options.stop_at_first = true;
  const auto report = hunt_evaluator("fake", evaluator, *source, {}, options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->verdict, Verdict::kDifferent);
  const Finding& finding = report->findings.front();
  EXPECT_EQ(finding.subject.before, (Program{{kNeg, 0, 0, 0}, {kRetA, 0, 0, 0}}))
      << asm_text(finding.subject.before);
  EXPECT_EQ(finding.witness->before, 0u);
  EXPECT_EQ(finding.witness->after, 7u);
  SeccompData data = finding.witness->data;
  data.set_arch(0);  // the output shows x86_64
  EXPECT_EQ(data, SeccompData{});
}

TEST(HuntEvaluator, WitnessesHaveACallWithAName) {
  FakeEvaluator evaluator([](ProgramView p, const SeccompData& data) {
    const bool right = data.arch() == arch_info(Arch::kX86_64).audit && data.nr() < 5;
    return run(p, data) + (right ? 0u : 1u);
  });
  const std::vector<SeccompData> inputs = {call(Arch::kS390x, 3)};
  const auto source = given_programs({{"one", {{kRetK, 0, 0, 1}}}});
  const auto report = hunt_evaluator("fake", evaluator, *source, inputs, options_for(1));
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].witness->data, call(Arch::kX86_64, 5));
  EXPECT_TRUE(report->findings[0].reduced);
}

TEST(Shape, DependsOnlyOnStructure) {
  const Program one = {{kLdWAbs, 0, 0, 16}, {kJeqK, 0, 1, 5}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}};
  Program other = one;
  other[0].k = 24;
  other[1].k = 77;
  other[3].k = 9;
  EXPECT_EQ(shape_of(one), shape_of(other));
  other[3].k = 1;  // now both returns are equal
  EXPECT_NE(shape_of(one), shape_of(other));
  other = one;
  other[1].jt = 1;
  EXPECT_NE(shape_of(one), shape_of(other));
}

TEST(Shape, AValueIsForeignIfNoReachableReturnHasIt) {
  const auto foreign = [](ProgramView program, std::uint32_t value) {
    return has_foreign_value(program, Witness{{}, 1, value}, Sameness::kRaw);
  };
  const Program two = {
      {kLdWAbs, 0, 0, 0}, {kJeqK, 0, 1, 5}, {kRetK, 0, 0, 1}, {kRetK, 0, 0, 2}, {kRetK, 0, 0, 3}};
  EXPECT_FALSE(foreign(two, 2));
  EXPECT_TRUE(foreign(two, 3)) << "the last return is dead";
  EXPECT_TRUE(foreign(two, 4));
  const Program computed = {
      {kLdWAbs, 0, 0, 0}, {kJeqK, 0, 1, 5}, {kRetK, 0, 0, 1}, {kRetA, 0, 0, 0}};
  EXPECT_FALSE(foreign(computed, 4));
  EXPECT_FALSE(has_foreign_value(two, std::nullopt, Sameness::kRaw));
  // The kernel ignores the data of ALLOW.
  const Program allow = {{kRetK, 0, 0, SECCOMP_RET_ALLOW}};
  const Witness data = {{}, 1, SECCOMP_RET_ALLOW | 3};
  EXPECT_TRUE(has_foreign_value(allow, data, Sameness::kRaw));
  EXPECT_FALSE(has_foreign_value(allow, data, Sameness::kBehaviour));
  const Program divides = {
      {kLdxImm, 0, 0, 0}, {kLdImm, 0, 0, 1}, {kDivX, 0, 0, 0}, {kRetK, 0, 0, 1}};
  EXPECT_FALSE(foreign(divides, 0));
  EXPECT_TRUE(foreign(divides, 2));
}

TEST(Shape, SignaturesDependOnTheCauseWithoutItsNumbers) {
  EXPECT_EQ(signature_of("panic at 0x1f, line 12", ""),
            signature_of("panic at 0xab34, line 9", ""));
  EXPECT_NE(signature_of("panic: index", ""), signature_of("panic: nil", ""));
  EXPECT_EQ(signature_of("a", "KeyError: 3"), signature_of("b", "KeyError: 4"));
  EXPECT_NE(signature_of("a", "KeyError: 3"), signature_of("a", "ValueError: 3"));
  Finding finding;
  finding.kind = FindingKind::kCrashed;
  finding.subject.before = {{kRetK, 0, 0, 1}};
  finding.detail = "it exited with status 2";
  EXPECT_EQ(group_of(finding), "crashed: ret r0");
  finding.cause = "it exited with status 2: panic: nil";
  EXPECT_EQ(group_of(finding), "crashed: it exited with status #: panic: nil");
}

TEST(Shape, RefusedAnswersAreAlikeIfTheyBreakTheSameRuleOfTheKernel) {
  const auto refused = [](std::string_view detail, RefusalRule rule) {
    return manner_of(FindingKind::kRejected, detail, "", rule);
  };
  EXPECT_EQ(refused("jump_range at 3", RefusalRule::kJumpRange),
            refused("another text", RefusalRule::kJumpRange));
  EXPECT_NE(refused("one text", RefusalRule::kJumpRange),
            refused("one text", RefusalRule::kMemUnset));
}

TEST(Store, FilesContainTheProgramAndAReplayCommand) {
  HuntReport report;
  report.kind = "optimizer";
  report.target = "sh it.sh '{}'";
  Finding finding;
  finding.subject.before = {{kLdWAbs, 0, 0, 0}, {kRetA, 0, 0, 0}};
  finding.detail = "two\nlines";
  finding.group = "different: a";
  finding.pass = "merge";
  finding.witness = Witness{SeccompData{}, 1, 2};
  const std::string text = file_text(report, finding, "x.asm");
  const auto read = read_program(text, "x.asm");
  ASSERT_TRUE(read) << text;
  EXPECT_EQ(*read, finding.subject.before);
  EXPECT_NE(text.find("replay: secequiv check --optimizer 'sh it.sh '\\''{}'\\''' x.asm"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("; pass: merge\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace secequiv::hunt::parts_test
