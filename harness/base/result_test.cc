#include "harness/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace secequiv::base_result_test {
namespace {

TEST(Error, TextOmitsUnknownParts) {
  EXPECT_EQ((Error{ErrorCode::kParse, "f:3:1", 7, "what"}.text()), "f:3:1: instruction 7: what");
  EXPECT_EQ((Error{ErrorCode::kParse, "", 0, "what"}.text()), "instruction 0: what");
  EXPECT_EQ((Error{ErrorCode::kParse, "f", -1, "what"}.text()), "f: what");
  EXPECT_EQ((Error{ErrorCode::kParse, "", -1, "what"}.text()), "what");
}

TEST(Error, LongDetailIsShortened) {
  const std::string text =
      make_error(ErrorCode::kParse, "f", "a" + std::string(1 << 20, 'x') + "b").text();
  EXPECT_LT(text.size(), 5000u);
  EXPECT_TRUE(text.starts_with("f: ax")) << text.substr(0, 10);
  EXPECT_TRUE(text.ends_with("xb"));
}

TEST(Error, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code)
    EXPECT_FALSE(error_name(static_cast<ErrorCode>(code)).empty()) << code;
  EXPECT_TRUE(
      error_name(static_cast<ErrorCode>(static_cast<int>(ErrorCode::kInternal) + 1)).empty());
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 3;
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 3);
  const Result<int> bad = make_error(ErrorCode::kIo, "here", "why");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::kIo);
  EXPECT_EQ(bad.error().text(), "here: why");
}

TEST(Result, HoldsMoveOnlyTypes) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  ASSERT_TRUE(result);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

// The constructors must not mistake a Result<std::string>'s value for an error.
TEST(Result, StringIsAValue) {
  const Result<std::string> text = std::string("value");
  ASSERT_TRUE(text);
  EXPECT_EQ(text->size(), 5u);
}

}  // namespace
}  // namespace secequiv::base_result_test
