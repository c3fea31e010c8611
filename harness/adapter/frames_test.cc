#include "harness/adapter/frames.h"

#include <gtest/gtest.h>

#include "harness/bpf/text.h"

namespace secequiv {
namespace {

const Program kProgram = {Insn{0x1234, 1, 2, 0xa0b0c0d0}, Insn{6, 0, 0, 7}};

TEST(Frames, BytesAreThoseOfTheProtocol) {
  std::string frame;
  append_frame(frame, optimize_request(kProgram));
  EXPECT_EQ(frame,
            std::string("\x11\0\0\0O\x34\x12\x01\x02\xd0\xc0\xb0\xa0\x06\0\0\0\x07\0\0\0", 21));
  EXPECT_EQ(frame_length(frame), 17u);
  EXPECT_EQ(compile_request("{}"), "C{}");
  const std::string evaluate = evaluate_request(kProgram, {{InputWords{0x01020304}}});
  EXPECT_EQ(evaluate.size(), 1 + 4 + 16 + 64u);
  EXPECT_EQ(evaluate.substr(0, 5), std::string("E\x02\0\0\0", 5));
  EXPECT_EQ(evaluate.substr(21, 5), std::string("\x04\x03\x02\x01\0", 5));
  EXPECT_EQ(values_body({{0x01020304, 5}}), std::string("\x04\x03\x02\x01\x05\0\0\0", 8));
}

TEST(Frames, RequestsReadBack) {
  const auto optimize = decode_request(optimize_request(kProgram));
  ASSERT_TRUE(optimize);
  EXPECT_EQ(optimize->program, kProgram);
  const std::string policy = compile_request("{}");
  const auto compile = decode_request(policy);
  ASSERT_TRUE(compile && compile->kind == RequestKind::kCompile);
  EXPECT_EQ(compile->policy, "{}");
  const std::vector<InputWords> inputs = {InputWords{1, 2}, InputWords{3, 4}};
  const auto evaluate = decode_request(evaluate_request(kProgram, inputs));
  ASSERT_TRUE(evaluate);
  EXPECT_EQ(evaluate->program, kProgram);
  EXPECT_EQ(evaluate->inputs, inputs);
  EXPECT_TRUE(decode_request(evaluate_request(kProgram, {}))->inputs.empty());
}

TEST(Frames, NoCutOfARequestIsOne) {
  const std::string evaluate = evaluate_request(kProgram, {{InputWords{}}});
  for (std::size_t n = 0; n < evaluate.size(); ++n)
    EXPECT_EQ(static_cast<bool>(decode_request(evaluate.substr(0, n))), n == 21) << n;
  const std::string optimize = optimize_request(kProgram);
  for (std::size_t n = 0; n < optimize.size(); ++n)
    EXPECT_EQ(static_cast<bool>(decode_request(optimize.substr(0, n))), n == 9) << n;
  EXPECT_FALSE(decode_request("E\xff\xff\xff\xff"));
  EXPECT_FALSE(decode_request("E\xff\xff\xff\xff" + evaluate.substr(5)));
  EXPECT_EQ(decode_request("X").error().detail,
            "expected a request of kind O, C or E, found kind 0x58");
}

}  // namespace
}  // namespace secequiv
