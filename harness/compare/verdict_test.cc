#include "harness/compare/verdict.h"

#include <gtest/gtest.h>

namespace secequiv::compare_verdict_test {
namespace {

// Users' scripts rely on this table.
TEST(Verdict, VerdictsHaveTheDocumentedExitCodes) {
  EXPECT_EQ(exit_code(Verdict::kPass), 0);
  EXPECT_EQ(exit_code(Verdict::kEquivalent), 0);
  EXPECT_EQ(exit_code(Verdict::kFail), 1);
  EXPECT_EQ(exit_code(Verdict::kDifferent), 1);
  EXPECT_EQ(exit_code(Verdict::kUnknown), 3);
  EXPECT_EQ(exit_code(Verdict::kRejected), 4);
  EXPECT_EQ(exit_code(Verdict::kCrashed), 5);
}

TEST(Verdict, ErrorsHaveTheDocumentedExitCodes) {
  for (const ErrorCode code : {ErrorCode::kUsage, ErrorCode::kIo, ErrorCode::kParse,
                               ErrorCode::kPolicy, ErrorCode::kInternal})
    EXPECT_EQ(exit_code(code), 2);
  EXPECT_EQ(exit_code(ErrorCode::kBudget), 3) << "running out of a budget is never a pass";
  EXPECT_EQ(exit_code(ErrorCode::kUnavailable), 3) << "a missing permission is never a pass";
  EXPECT_EQ(exit_code(ErrorCode::kRejected), 4);
  EXPECT_EQ(exit_code(ErrorCode::kAdapter), 5);
}

TEST(Verdict, VerdictsHaveStableNames) {
  EXPECT_EQ(verdict_name(Verdict::kPass), "pass");
  EXPECT_EQ(verdict_name(Verdict::kEquivalent), "equivalent");
  EXPECT_EQ(verdict_name(Verdict::kFail), "fail");
  EXPECT_EQ(verdict_name(Verdict::kDifferent), "different");
  EXPECT_EQ(verdict_name(Verdict::kUnknown), "unknown");
  EXPECT_EQ(verdict_name(Verdict::kRejected), "rejected");
  EXPECT_EQ(verdict_name(Verdict::kCrashed), "crashed");
}

}  // namespace
}  // namespace secequiv::compare_verdict_test
