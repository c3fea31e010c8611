#include "harness/coverage/state.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::coverage_state_test {
namespace {

const char* const kProgram = "ld [0]\njeq #6, z, b\nz: ret #1\nb: ret #2";

TEST(CoverageState, WritesOneLineOfMarksPerInstruction) {
  CoverageMap coverage(assemble(kProgram));
  coverage.run({6});
  const std::string text = write_coverage(coverage);
  EXPECT_TRUE(text.starts_with("secequiv coverage 1\nprogram ")) << text;
  EXPECT_TRUE(text.ends_with(" 4\n100\n110\n100\n000\n")) << text;
}

TEST(CoverageState, ReadingAddsToTheMap) {
  Random random(92);
  for (int i = 0; i < 100; ++i) {
    const Program program = random_program(random, random.between(1, 50));
    const auto inputs = random_inputs(random, program, 10);
    CoverageMap all(program);
    CoverageMap read(program);
    for (const SeccompData& input : inputs) {
      all.run(input);
      CoverageMap one(program);
      one.run(input);
      const auto status = read_coverage(write_coverage(one), "f", read);
      ASSERT_TRUE(status) << status.error().text();
    }
    EXPECT_EQ(read.uncovered(), all.uncovered());
  }
}

TEST(CoverageState, MalformedFilesChangeNothing) {
  CoverageMap covered(assemble(kProgram));
  covered.run({6});
  const std::string good = write_coverage(covered);
  std::string mark = good;
  mark[mark.size() - 2] = '2';
  std::string line_end = good;
  line_end.back() = ' ';
  const struct {
    std::string text;
    ErrorCode code;
    const char* error;
  } cases[] = {
      {"", ErrorCode::kParse, "f:1: expected a coverage file ('secequiv coverage 1')"},
      {"secequiv coverage 2\n", ErrorCode::kParse,
       "f:1: expected a coverage file ('secequiv coverage 1')"},
      {write_coverage(CoverageMap(assemble("ret #1"))), ErrorCode::kUsage,
       "f:2: this file has the coverage of a different program"},
      {write_coverage(CoverageMap(assemble("ld [0]\njeq #7, z, b\nz: ret #1\nb: ret #2"))),
       ErrorCode::kUsage, "f:2: this file has the coverage of a different program"},
      {good.substr(0, good.size() - 4), ErrorCode::kParse, "f: expected 4 lines of marks"},
      {good + "000\n", ErrorCode::kParse, "f: expected 4 lines of marks"},
      {mark, ErrorCode::kParse, "f:6: expected three marks of 0 or 1"},
      {line_end, ErrorCode::kParse, "f:6: expected three marks of 0 or 1"},
  };
  for (const auto& c : cases) {
    CoverageMap coverage(assemble(kProgram));
    const auto status = read_coverage(c.text, "f", coverage);
    ASSERT_FALSE(status) << c.text;
    EXPECT_EQ(status.error().code, c.code);
    EXPECT_EQ(status.error().text(), c.error);
    EXPECT_EQ(coverage.uncovered(), coverage.obligations());
  }
}

TEST(InputFile, RecordsAreLittleEndianWords) {
  SeccompData data{257, 0xc000003e};
  data.words[15] = 0x01020304;
  const std::string bytes = write_inputs({data, SeccompData{}});
  ASSERT_EQ(bytes.size(), 128u);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x01\x01\x00\x00\x3e\x00\x00\xc0", 8));
  EXPECT_EQ(bytes.substr(60, 4), std::string("\x04\x03\x02\x01", 4));
  const auto back = read_inputs(bytes, "f");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, (std::vector<SeccompData>{data, SeccompData{}}));
  EXPECT_TRUE(read_inputs("", "f")->empty());
  const auto cut = read_inputs(bytes.substr(0, 100), "f");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().text(), "f: offset 64: expected 64 bytes (struct seccomp_data), found 36");
}

}  // namespace
}  // namespace secequiv::coverage_state_test
