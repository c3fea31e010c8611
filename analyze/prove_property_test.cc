// Compares the answers about clauses with runs of the filter.
#include "analyze/prove_property.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/seccomp/action.h"

namespace secequiv::analyze_prove_property_test {
namespace {

// getpid returns #action, all other calls ALLOW.
std::string filter_with(std::uint32_t action) {
  return "ld [0]\njeq #39, y, n\ny: ret #" + std::to_string(action) + "\nn: ret #0x7fff0000\n";
}

Result<PropertyReport> proven(const std::string& filter, std::string_view text,
                              const std::string& assumption = "") {
  PropertyJob job;
  job.proof.subject = "filter";
  job.proof.after.push_back({"filter", assemble(filter), {}});
  job.proof.assumption = assumption;
  job.proof.budget = budget_for(100, 1024);
  ASSIGN_OR_RETURN(auto property, parse_property(text, "p", Arch::kX86_64));
  job.properties.push_back(std::move(property));
  return prove_property(job);
}

Verdict verdict_of(const std::string& filter, std::string_view text) {
  const auto report = proven(filter, text);
  EXPECT_TRUE(report) << report.error().text();
  return report ? report->verdict() : Verdict::kUnknown;
}

TEST(ProveProperty, EachOutcomeAcceptsTheActionsUpToItsBound) {
  const std::vector<std::uint32_t> actions = {
      SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP, SECCOMP_RET_ERRNO,
      SECCOMP_RET_USER_NOTIF,   SECCOMP_RET_TRACE,       SECCOMP_RET_LOG,  SECCOMP_RET_ALLOW};
  const std::pair<std::string_view, std::size_t> kAccepted[] = {
      {"killed", 2}, {"refused", 4}, {"not allowed", 6}};
  for (std::size_t i = 0; i < actions.size(); ++i)
    for (const std::uint32_t data : {0u, 5u}) {
      const std::string filter = filter_with(actions[i] | data);
      const auto expect = [&](std::string_view outcome, bool accepted) {
        EXPECT_EQ(verdict_of(filter, "when nr == 39: " + std::string(outcome)),
                  accepted ? Verdict::kPass : Verdict::kFail)
            << outcome << " " << describe_action(actions[i] | data);
      };
      for (const auto& [outcome, count] : kAccepted) expect(outcome, i < count);
      expect("allowed", i >= 6);
    }
}

TEST(ProveProperty, AnUnknownActionKills) {
  EXPECT_EQ(verdict_of(filter_with(0x00070000), "when nr == 39: killed"), Verdict::kPass);
  EXPECT_EQ(verdict_of(filter_with(0x00070000), "allowed: getpid"), Verdict::kFail);
}

TEST(ProveProperty, TheWitnessViolatesItsClause) {
  const auto report = proven(filter_with(SECCOMP_RET_ERRNO), "refused: getpid\nrefused: ptrace\n");
  ASSERT_TRUE(report);
  ASSERT_EQ(report->clauses.size(), 2u);
  EXPECT_EQ(report->clauses[0].verdict(), Verdict::kFail) << "other architectures";
  for (const ClauseReport& one : report->clauses) {
    ASSERT_TRUE(one.proof.proof.witness);
    const SeccompData& data = one.proof.proof.witness->data;
    EXPECT_TRUE(holds(one.clause.condition, data, Endian::kLittle));
    EXPECT_TRUE(one.proof.proof.minimal);
  }
  EXPECT_EQ(report->clauses[1].proof.proof.witness->data.nr(), 101u) << "the host's first";
}

TEST(ProveProperty, AnAssumptionNarrowsEveryClause) {
  const std::string filter = filter_with(SECCOMP_RET_ERRNO);
  const auto narrowed =
      proven(filter, "refused: getpid\nrefused: ptrace\n", "arch == x86_64 && nr < 100");
  ASSERT_TRUE(narrowed) << narrowed.error().text();
  EXPECT_EQ(narrowed->verdict(), Verdict::kPass);
  EXPECT_FALSE(narrowed->clauses[0].vacuous);
  EXPECT_TRUE(narrowed->clauses[1].vacuous);
  const auto nothing = proven(filter, "refused: ptrace\n", "nr == 40");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kUsage);
  const auto malformed = proven(filter, "refused: ptrace\n", "nr = 40");
  ASSERT_FALSE(malformed);
  EXPECT_NE(malformed.error().detail.find("column 4"), std::string::npos);
}

TEST(ProveProperty, AClauseAboutNothingIsAnError) {
  const auto report = proven(filter_with(0), "refused: ptrace\nwhen nr == 1 && nr == 2: refused\n");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().text(),
            "p:2: expected a condition that some input satisfies, found 'when nr == 1 && nr == 2: "
            "refused'");
}

TEST(ProveProperty, ARefusedFilterIsRejected) {
  const auto report = proven("ld M[3]\nret a\n", "refused: ptrace\n");
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->verdict(), Verdict::kRejected);
}

TEST(ProveProperty, SmallBudgetsGiveUnknown) {
  PropertyJob job;
  job.proof.after.push_back({"filter", assemble(filter_with(0)), {}});
  job.proof.budget = budget_for(100, 1024);
  job.proof.elapsed = [] { return 100.0; };
  auto property = parse_property("refused: getpid\n", "p", Arch::kX86_64);
  ASSERT_TRUE(property);
  job.properties.push_back(std::move(*property));
  const auto report = prove_property(job);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_NE(report->verdict(), Verdict::kPass);
}

}  // namespace
}  // namespace secequiv::analyze_prove_property_test
