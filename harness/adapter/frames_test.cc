#include "harness/adapter/frames.h"

#include <gtest/gtest.h>

#include "harness/bpf/text.h"

namespace secequiv::adapter_frames_test {
namespace {

const Program kProgram = {Insn{0x1234, 1, 2, 0xa0b0c0d0}, Insn{6, 0, 0, 7}};

TEST(Frames, RequestsHaveTheBytesOfTheProtocol) {
  std::string frame;
  append_frame(frame, optimize_request(kProgram));
  EXPECT_EQ(frame,
            std::string("\x11\0\0\0O\x34\x12\x01\x02\xd0\xc0\xb0\xa0\x06\0\0\0\x07\0\0\0", 21));
  EXPECT_EQ(frame_length(frame), 17u);
  EXPECT_EQ(compile_request("{}"), "C{}");
  const std::string evaluate = evaluate_request(kProgram, {{SeccompData{0x01020304}}});
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
  const std::vector<SeccompData> inputs = {SeccompData{1, 2}, SeccompData{3, 4}};
  const auto evaluate = decode_request(evaluate_request(kProgram, inputs));
  ASSERT_TRUE(evaluate);
  EXPECT_EQ(evaluate->program, kProgram);
  EXPECT_EQ(evaluate->inputs, inputs);
  EXPECT_TRUE(decode_request(evaluate_request(kProgram, {}))->inputs.empty());
}

TEST(Frames, TruncatedRequestsAreErrors) {
  const std::string evaluate = evaluate_request(kProgram, {{SeccompData{}}});
  for (std::size_t n = 0; n < evaluate.size(); ++n)
    EXPECT_EQ(static_cast<bool>(decode_request(evaluate.substr(0, n))), n == 21) << n;
  const std::string optimize = optimize_request(kProgram);
  for (std::size_t n = 0; n < optimize.size(); ++n)
    EXPECT_EQ(static_cast<bool>(decode_request(optimize.substr(0, n))), n == 9) << n;
  EXPECT_FALSE(decode_request("E\xff\xff\xff\xff"));
  EXPECT_FALSE(decode_request("E\xff\xff\xff\xff" + evaluate.substr(5)));
  EXPECT_EQ(decode_request("X").error().detail,
            "expected a request of kind O, S, R, C or E, found kind 0x58");
}

TEST(Frames, EdgesHaveTheBytesOfTheProtocol) {
  EXPECT_EQ(decode_request("R")->kind, RequestKind::kReached);
  EXPECT_EQ(*decode_edges({}), std::vector<std::uint32_t>{});
  EXPECT_EQ(*decode_edges({"\1\0\0\0\0\2\0\0", 8}), (std::vector<std::uint32_t>{1, 512}));
  EXPECT_EQ(decode_edges({"\1\0\0\0\0", 5}).error().detail,
            "expected the numbers of edges, 4 bytes each, found 5 bytes");
}

const std::vector<OptimizerStage> kStages = {{"one", kProgram},
                                             {"zw\xc3\xb6lf", {Insn{6, 0, 0, 7}}}};

TEST(Frames, StagesHaveTheBytesOfTheProtocol) {
  EXPECT_EQ(stages_request(kProgram), "S" + optimize_request(kProgram).substr(1));
  const auto request = decode_request(stages_request(kProgram));
  ASSERT_TRUE(request && request->kind == RequestKind::kStages);
  EXPECT_EQ(request->program, kProgram);
  EXPECT_EQ(stages_body({{kStages[1]}}),
            std::string("\x06\0\0\0zw\xc3\xb6lf\x01\0\0\0\x06\0\0\0\x07\0\0\0", 22));
  const auto read = decode_stages(stages_body(kStages));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, kStages);
  EXPECT_TRUE(decode_stages("")->empty());
}

TEST(Frames, TruncatedStagesAreErrors) {
  const std::string whole = stages_body(kStages);
  const std::size_t first = stages_body({{kStages[0]}}).size();
  for (std::size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(static_cast<bool>(decode_stages(whole.substr(0, n))), n == 0 || n == first) << n;
}

TEST(Frames, MalformedStagesAreErrors) {
  const auto detail = [](std::string_view body) {
    const auto read = decode_stages(body);
    return read ? "read" : read.error().detail;
  };
  using namespace std::string_view_literals;
  const std::string good = stages_body({{kStages[0]}});
  EXPECT_EQ(detail(good + std::string("\1\0\0", 3)),
            "expected the length of the name of stage 2 (4 bytes), found 3 bytes");
  EXPECT_EQ(detail("\xff\xff\xff\xff"
                   "abc"sv),
            "expected a name of 1 to 200 bytes for stage 1, found the length 4294967295 with 3 "
            "bytes left");
  EXPECT_EQ(detail("\0\0\0\0\1\0\0\0\6\0\0\0\0\0\0\0"sv),
            "expected a name of 1 to 200 bytes for stage 1, found the length 0 with 12 bytes left");
  EXPECT_EQ(detail(stages_body({{{std::string(200, 'x'), kProgram}}})), "read");
  EXPECT_EQ(detail(stages_body({{{std::string(201, 'x'), kProgram}}})).substr(0, 68),
            "expected a name of 1 to 200 bytes for stage 1, found the length 201 ");
  EXPECT_EQ(detail(stages_body({{{"a\x1b[2J\xff", kProgram}}})),
            "expected printable UTF-8 as the name of stage 1, found 'a\\x1b[2J\\xff'");
  EXPECT_EQ(detail("\1\0\0\0a\0\0\0\0"sv),
            "expected at least one instruction of 8 bytes for stage 1, found the count 0 with 0 "
            "bytes left");
  EXPECT_EQ(detail("\1\0\0\0a\xff\xff\xff\xff"
                   "12345678"sv),
            "expected at least one instruction of 8 bytes for stage 1, found the count 4294967295 "
            "with 8 bytes left");
}

}  // namespace
}  // namespace secequiv::adapter_frames_test
