// Tests the renderers of guard with a report value made by hand.
#include "harness/report/guard.h"

#include <gtest/gtest.h>

namespace secequiv::report_guard_test {
namespace {

SeccompData socket_of(std::uint64_t family, std::uint64_t type = 0) {
  SeccompData out;
  out.set_arch(AUDIT_ARCH_X86_64);
  out.set_nr(41);
  out.set_field(0, family, Endian::kLittle);
  out.set_field(1, type, Endian::kLittle);
  return out;
}

DecidingRule rule_at(const char* path, std::size_t line) {
  DecidingRule out;
  out.position.at = std::make_shared<RulePosition>(RulePosition{"p.json", line, path});
  return out;
}

GuardReport made_by_hand() {
  GuardReport out;
  out.name = "p.json";
  out.file.path = "p.json";
  out.holes = {{.arch = Arch::kX86_64,
                .nr = 41,
                .arguments = {0},
                .refused = socket_of(0x26),
                .refused_value = 0x50001,
                .refused_by = rule_at("defaultAction", 2),
                .allowed = socket_of(0x100000026),
                .allowed_value = 0x7fff0000}};
  return out;
}

constexpr const char* kHole =
    "x86_64:socket arg0: the kernel ignores bits 32 to 63 of arg0, so socket(0x100000026) "
    "passes with the effect of socket(0x26), which is refused\n"
    "  refused: socket(0x26)  ERRNO(1 EPERM): p.json:2 (defaultAction)\n"
    "  allowed: socket(0x100000026)  ALLOW\n"
    "  instead: compare arg0 & 0xffffffff\n";

TEST(GuardReport, TextShowsBothInputsAndWhatToCompare) {
  EXPECT_EQ(guard_text(made_by_hand()), std::string("fail: 1 way around this filter\n") + kHole);
  EXPECT_EQ(guard_text(GuardReport{}), "pass: no way around this filter found\n");
}

TEST(GuardReport, TestsThatAreStricterThanNeededAreOneNote) {
  GuardReport report = made_by_hand();
  std::swap(report.strict, report.holes);
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  EXPECT_EQ(guard_text(report),
            "pass: no way around this filter found\n"
            "note: stricter than needed, because these tests include bits that the kernel ignores: "
            "x86_64:socket arg0\n");
  EXPECT_TRUE(to_json(report)["holes"].empty());
  EXPECT_EQ(to_json(report)["stricter"][0]["call"], "socket");
  for (const ReportedCase& one : reported(report).cases)
    EXPECT_EQ(one.state, ReportedCase::State::kPass);
}

TEST(GuardReport, AnIncompleteAnswerIsNoPass) {
  GuardReport report;
  report.unknown = "the filter computes a return value";
  EXPECT_EQ(guard_text(report), "unknown: the filter computes a return value\n");
  EXPECT_EQ(to_json(report)["reason"], "the filter computes a return value");
  const ReportedCases cases = reported(report);
  EXPECT_EQ(cases.exit_status, 3);
  ASSERT_EQ(cases.cases.size(), 1u);
  EXPECT_EQ(cases.cases[0].state, ReportedCase::State::kUnknown);
}

TEST(GuardReport, AHoleIsCountedOnceForAllArchitectures) {
  GuardReport report = made_by_hand();
  report.holes.push_back(report.holes[0]);
  SplitReport& other = report.holes[1];
  other.arch = Arch::kAarch64;
  other.nr = *syscall_nr(Arch::kAarch64, "socket");
  for (SeccompData* data : {&other.refused, &other.allowed}) {
    data->set_arch(AUDIT_ARCH_AARCH64);
    data->set_nr(other.nr);
  }
  const std::string text = guard_text(report);
  EXPECT_TRUE(text.starts_with("fail: 1 way around this filter")) << text;
  EXPECT_NE(text.find("\nx86_64,aarch64:socket arg0: "), std::string::npos) << text;
  EXPECT_EQ(reported(report).cases.size(), 1u);
  EXPECT_EQ(to_json(report)["holes"].size(), 2u);
  other.refused_value = 0x5000d;
  EXPECT_TRUE(guard_text(report).starts_with("fail: 2 ways around this filter"));
}

TEST(GuardReport, ArgumentsThatACallDoesNotHaveShouldNotBeTested) {
  GuardReport report = made_by_hand();
  report.holes[0].arguments = {1, 3};
  report.holes[0].allowed = socket_of(0x26, 0x500000000);
  report.holes[0].allowed.set_field(3, 7, Endian::kLittle);
  const std::string text = guard_text(report);
  EXPECT_NE(text.find("x86_64:socket arg1, arg3: the kernel ignores bits 32 to 63 of arg1; the "
                      "kernel ignores arg3, so socket(0x26, 0x500000000, 0x0, 0x7) passes"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  instead: compare arg1 & 0xffffffff; do not test arg3\n"),
            std::string::npos)
      << text;
}

TEST(GuardReport, TheKernelsAnswersAreALine) {
  using Answer = kernel::Answer;
  const Answer eperm{Answer::Kind::kError, 1};
  GuardReport report = made_by_hand();
  EXPECT_FALSE(to_json(report)["holes"][0].contains("kernel"));
  report.holes[0].answers = RealAnswers{eperm, {}, {}};
  EXPECT_NE(guard_text(report).find("\n  kernel:  EPERM for the refused input; ran for the other "
                                    "one, as without the filter\n  instead: "),
            std::string::npos)
      << guard_text(report);
  EXPECT_EQ(to_json(report)["holes"][0]["kernel"]["unfiltered"], "ran");
  report.holes[0].answers = RealAnswers{eperm, eperm, eperm};
  EXPECT_NE(guard_text(report).find("kernel:  EPERM for both inputs, with and without the filter"),
            std::string::npos);
  report.holes[0].answers.reset();
  report.holes[0].not_run = "reason";
  EXPECT_NE(guard_text(report).find("\n  kernel:  not run: reason\n"), std::string::npos);
  EXPECT_EQ(to_json(report)["holes"][0]["kernel"], nlohmann::ordered_json({{"not_run", "reason"}}));
}

TEST(GuardReport, CasesArePlacedAtTheRuleThatRefuses) {
  const ReportedCases cases = reported(made_by_hand());
  ASSERT_EQ(cases.cases.size(), 1u);
  EXPECT_EQ(cases.exit_status, 1);
  EXPECT_EQ(title_of(cases.cases[0]), "hole x86_64:socket arg0");
  EXPECT_EQ(cases.cases[0].place->path, "p.json");
  EXPECT_EQ(cases.cases[0].place->line, 2u);
  GuardReport program = made_by_hand();
  program.holes[0].refused_by = {};
  EXPECT_FALSE(reported(program).cases[0].place);
}

TEST(GuardReport, AProfilesAnswerNamesTheHostAndTheContainer) {
  GuardReport report = made_by_hand();
  EXPECT_EQ(reported(report).holds_for, "");
  EXPECT_FALSE(to_json(report).contains("read_for"));
  report.notes.read_for = ReadFor{"x86_64", "6.1", {"CAP_SYS_ADMIN"}};
  EXPECT_NE(reported(report).holds_for.find("CAP_SYS_ADMIN"), std::string::npos);
  EXPECT_EQ(to_json(report)["read_for"]["kernel"], "6.1");
}

}  // namespace
}  // namespace secequiv::report_guard_test
