#include "harness/seccomp/call_text.h"

#include <gtest/gtest.h>

#include "harness/seccomp/arch.h"

namespace secequiv::seccomp_call_text_test {
namespace {

TEST(CallText, ReadsNamesAndNumbers) {
  const auto call = read_call({"", "read", "0x10", {"1=-1", "0=3"}, {}}, "aarch64");
  ASSERT_TRUE(call) << call.error().text();
  EXPECT_EQ(call->nr(), 63u);
  EXPECT_EQ(call->arch(), AUDIT_ARCH_AARCH64);
  EXPECT_EQ(call->field(0, Endian::kLittle), 3u);
  EXPECT_EQ(call->field(1, Endian::kLittle), ~std::uint64_t{0});
  EXPECT_EQ(call->field(kIpField, Endian::kLittle), 0x10u);
}

TEST(CallText, TheNumberCanNameItsArchitecture) {
  const auto call = read_call({"", "x32:read", "0", {}, {}}, "x86_64");
  ASSERT_TRUE(call) << call.error().text();
  EXPECT_EQ(call->nr(), kX32Bit);
  EXPECT_EQ(call->arch(), AUDIT_ARCH_X86_64);
  EXPECT_EQ(read_call({"", "arm64:read", "0", {}, {}}, "x86_64")->arch(), AUDIT_ARCH_AARCH64);
  EXPECT_EQ(read_call({"i386", "x86:read", "0", {}, {}}, "x86_64")->nr(), 3u);
  for (const char* number : {"x33:read", "x32:raed", "x32:", "i386:read"}) {
    const auto read = read_call({"x32", number, "0", {}, {}}, "x86_64");
    ASSERT_FALSE(read) << number;
    EXPECT_EQ(read.error().subject, Subject::kCallNumber) << number;
  }
}

TEST(CallText, ReadsWordsInPlaceOfFields) {
  std::vector<std::string> words(16, "7");
  const auto call = read_call({"", "nosuch", "", {}, words}, "x86_64");
  ASSERT_TRUE(call) << call.error().text();
  for (const std::uint32_t word : call->words) EXPECT_EQ(word, 7u);
  words[3] = "0x100000000";
  EXPECT_EQ(read_call({"", "0", "0", {}, words}, "x86_64").error().subject, Subject::kCallWords);
}

TEST(CallText, ErrorsNameTheirSubject) {
  const auto subject = [](const CallText& call) {
    const auto read = read_call(call, "x86_64");
    return read ? Subject::kNone : read.error().subject;
  };
  EXPECT_EQ(subject({"nosuch", "0", "0", {}, {}}), Subject::kCallArch);
  EXPECT_EQ(subject({"", "reed", "0", {}, {}}), Subject::kCallNumber);
  EXPECT_EQ(subject({"0x123", "read", "0", {}, {}}), Subject::kCallNumber);
  EXPECT_EQ(subject({"", "0", "x", {}, {}}), Subject::kCallPointer);
  EXPECT_EQ(subject({"", "0", "0", {"6=1"}, {}}), Subject::kCallArgument);
  EXPECT_EQ(subject({"", "0", "0", {"1=1", "1=1"}, {}}), Subject::kCallArgument);
  EXPECT_EQ(subject({"", "0", "0", {}, {"1", "2"}}), Subject::kCallWords);
}

}  // namespace
}  // namespace secequiv::seccomp_call_text_test
