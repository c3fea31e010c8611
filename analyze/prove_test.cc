#include "analyze/prove.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::analyze_prove_test {
namespace {

constexpr const char* kAllowOne = "ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0\n";
constexpr const char* kAllowTwo =
    "ld [0]\njeq #39, y, m\nm: jeq #40, y, n\ny: ret #0x7fff0000\nn: ret #0\n";
constexpr double kTimeout = 100;
// prove() reads the clock before it checks names and before it proves.
constexpr int kUntilProven = 2;

// Proves with a time limit that seems to run out once the clock has been read `looks` times.
ProveReport proven(const char* after, int looks, Engine engine = Engine::kDd) {
  ProveJob job;
  job.before.push_back({"before", assemble(kAllowOne), {}});
  job.after.push_back({"after", assemble(after), {}});
  job.engine = engine;
  job.budget = budget_for(kTimeout, 1024);
  job.certificate_folder = "certificate";
  job.certificate_limits.seconds = kTimeout;
  job.elapsed = [looked = 0, looks]() mutable { return looked++ < looks ? 0 : kTimeout; };
  auto report = prove(job);
  EXPECT_TRUE(report) << (report ? "" : report.error().text());
  return report ? std::move(*report) : ProveReport{};
}

TEST(Prove, DirectionGetsTheTimeRemainingAfterTheProof) {
  const auto in_time = proven(kAllowTwo, 100);
  ASSERT_TRUE(in_time.direction);
  EXPECT_TRUE(in_time.direction->complete);
  const auto late = proven(kAllowTwo, kUntilProven);
  EXPECT_EQ(late.proof.verdict, Verdict::kDifferent);
  ASSERT_TRUE(late.direction);
  EXPECT_FALSE(late.direction->complete) << "no time was left for it";
}

TEST(Prove, CertificatesGetTheTimeRemainingAfterTheProof) {
  const auto in_time = proven(kAllowOne, 100);
  ASSERT_TRUE(in_time.certificate);
  EXPECT_EQ(in_time.certificate->failed, 0);
  EXPECT_EQ(in_time.certificate->files.size(), 1u);
  const auto late = proven(kAllowOne, kUntilProven);
  EXPECT_EQ(late.proof.verdict, Verdict::kEquivalent);
  ASSERT_TRUE(late.certificate);
  EXPECT_EQ(late.certificate->failed, exit_code(ErrorCode::kBudget)) << late.certificate->reason;
  EXPECT_TRUE(late.certificate->files.empty());
}

TEST(Prove, ABudgetShrinksByTheElapsedTime) {
  const Budget budget = budget_for(kTimeout, 1024);
  EXPECT_EQ(budget.after(10).timeout_seconds, kTimeout) << "messages name it";
  EXPECT_EQ(budget.after(10).after(10).spent_seconds, 20);
  EXPECT_EQ(budget.after(10).diagrams.seconds, 50) << "the diagrams may use half of all time";
  EXPECT_EQ(budget.after(80).diagrams.seconds, 20);
  EXPECT_EQ(budget.after(200).diagrams.seconds, 0);
}

}  // namespace
}  // namespace secequiv::analyze_prove_test
