#include "harness/optimize/precompiled_file.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv {
namespace {

Precompiled example() {
  return {"small \"one\"\n\xc3\xa9",
          assemble("ld [16]\njeq #3, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n"),
          {{"fd", 3, {1}}, {"a=b \\", 0xffffffff, {}}}};
}

TEST(PrecompiledFile, RoundTrip) {
  const std::string text = write_precompiled(example());
  const auto back = read_precompiled(text, "f");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, example());
  EXPECT_EQ(write_precompiled(*back), text);
  const Precompiled bare{"", assemble("ret #0\n"), {}};
  const auto none = read_precompiled(write_precompiled(bare), "f");
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_EQ(*none, bare);
}

TEST(PrecompiledFile, LooksLikeThis) {
  Precompiled precompiled = example();
  precompiled.policy = "small";
  precompiled.variables.pop_back();
  EXPECT_EQ(write_precompiled(precompiled), R"j({
 "schema": "secequiv.precompiled/1",
 "policy": "small",
 "variables": [
  {"name": "fd", "value": 3, "places": [1]}
 ],
 "program": [
  [32, 0, 0, 16],
  [21, 0, 1, 3],
  [6, 0, 0, 2147418112],
  [6, 0, 0, 327681]
 ]
}
)j");
}

std::string file(const std::string& variables,
                 const std::string& program = "[[32,0,0,16],[21,0,1,3],[6,0,0,1],[6,0,0,2]]") {
  return R"j({"schema": "secequiv.precompiled/1", "policy": "p", "variables": )j" + variables +
         R"j(, "program": )j" + program + "}";
}
std::string variable(const std::string& name, const std::string& value, const std::string& places) {
  return R"j({"name": )j" + name + R"j(, "value": )j" + value + R"j(, "places": )j" + places + "}";
}
std::string variables(const std::string& places) {
  return "[" + variable(R"("fd")", "3", places) + "]";
}

struct Case {
  std::string text;
  std::string error;
};

void expect_errors(const std::vector<Case>& cases, ErrorCode code) {
  for (const Case& c : cases) {
    const auto out = read_precompiled(c.text, "f");
    ASSERT_FALSE(out) << c.text;
    EXPECT_EQ(out.error().code, code) << c.text;
    EXPECT_EQ(out.error().text(), c.error) << c.text;
  }
}

TEST(PrecompiledFile, AGoodOneForComparison) {
  const auto out = read_precompiled(file(variables("[1]")), "f");
  ASSERT_TRUE(out) << out.error().text();
}

TEST(PrecompiledFile, Syntax) {
  for (const char* text : {"", "{", "[1,", "{\"schema\": 1, \"schema\": 2}", "\xff"}) {
    const auto out = read_precompiled(text, "f");
    ASSERT_FALSE(out) << text;
    EXPECT_EQ(out.error().code, ErrorCode::kParse) << text;
    EXPECT_TRUE(out.error().where.starts_with("f:1:")) << out.error().text();
  }
}

TEST(PrecompiledFile, TheDocument) {
  expect_errors(
      {
          {"[]", "f#/: expected an object, found []"},
          {"{}", "f#/: the key 'schema' is missing"},
          {R"j({"schema": "secequiv.precompiled/1", "policy": "p", "program": []})j",
           "f#/: the key 'variables' is missing"},
          {R"j({"rule_sets": []})j",
           "f#/rule_sets: unknown key 'rule_sets'; known here: schema, policy, variables, program"},
          {R"j({"schema": "secequiv.precompiled/2", "policy": "p", "variables": [], "program": []})j",
           R"(f#/schema: expected "secequiv.precompiled/1", found "secequiv.precompiled/2")"},
          {R"j({"schema": "secequiv.precompiled/1", "policy": 7, "variables": [], "program": []})j",
           "f#/policy: expected the policy's name, found 7"},
          {file("{}"), "f#/variables: expected an array of variables, found {}"},
          {file("[]", "{}"), "f#/program: expected an array of instructions, found {}"},
      },
      ErrorCode::kPolicy);
}

TEST(PrecompiledFile, TheProgram) {
  static const std::string kInsn = "expected an array of four numbers: code, jt, jf, k, found ";
  expect_errors(
      {
          {file("[]", "[]"),
           "f#/program: length: the kernel takes 1 to 4096 instructions, this program has 0"},
          {file("[]", "[7]"), "f#/program/0: " + kInsn + "7"},
          {file("[]", "[[6,0,0]]"), "f#/program/0: " + kInsn + "[6,0,0]"},
          {file("[]", "[[6,0,0,0,0]]"), "f#/program/0: " + kInsn + "[6,0,0,0,0]"},
          {file("[]", "[[6,0,0,0],[65536,0,0,0]]"),
           "f#/program/1/0: expected a number from 0 to 65535, found 65536"},
          {file("[]", "[[6,256,0,0]]"),
           "f#/program/0/1: expected a number from 0 to 255, found 256"},
          {file("[]", "[[6,0,-1,0]]"), "f#/program/0/2: expected a number from 0 to 255, found -1"},
          {file("[]", "[[6,0,0,4294967296]]"),
           "f#/program/0/3: expected a number from 0 to 4294967295, found 4294967296"},
          {file("[]", "[[6,0,0,1.5]]"),
           "f#/program/0/3: expected a number from 0 to 4294967295, found 1.5"},
          {file("[]", R"([["ret",0,0,0]])"),
           R"(f#/program/0/0: expected a number from 0 to 65535, found "ret")"},
      },
      ErrorCode::kPolicy);
  // What the kernel would refuse: the rule and the instruction are named.
  for (const char* program : {"[[32,0,0,0]]", "[[32,0,0,1],[6,0,0,0]]", "[[5,0,0,9],[6,0,0,0]]"}) {
    const auto out = read_precompiled(file("[]", program), "f");
    ASSERT_FALSE(out) << program;
    EXPECT_TRUE(out.error().text().starts_with("f#/program: ")) << out.error().text();
  }
}

TEST(PrecompiledFile, TheVariables) {
  const std::string fd = R"("fd")";
  expect_errors(
      {
          {file("[3]"), "f#/variables/0: expected an object, found 3"},
          {file(R"([{"name": "fd", "value": 3}])"), "f#/variables/0: the key 'places' is missing"},
          {file(R"([{"name": "fd", "value": 3, "place": []}])"),
           "f#/variables/0/place: unknown key 'place'; known here: name, value, places; did you "
           "mean places?"},
          {file("[" + variable("1", "3", "[]") + "]"),
           "f#/variables/0/name: expected a variable's name, found 1"},
          {file("[" + variable(R"("")", "3", "[]") + "]"),
           "f#/variables/0/name: expected a name, found none"},
          {file("[" + variable(fd, "4294967296", "[]") + "]"),
           "f#/variables/0/value: expected a number from 0 to 2^32-1, found 4294967296"},
          {file("[" + variable(fd, "-1", "[]") + "]"),
           "f#/variables/0/value: expected a number from 0 to 2^32-1, found -1"},
          {file(variables("1")),
           "f#/variables/0/places: expected an array of instruction numbers, found 1"},
          {file(variables("[-1]")),
           "f#/variables/0/places/0: expected an instruction's number, from 0, found -1"},
          {file("[" + variable(fd, "3", "[1]") + "," + variable(fd, "3", "[]") + "]"),
           "f#/variables/1/name: 'fd' is there twice"},
      },
      ErrorCode::kPolicy);
}

TEST(PrecompiledFile, ThePlaces) {
  const std::string fd = R"("fd")";
  expect_errors(
      {
          {file(variables("[4]")),
           "f#/variables/0/places/0: expected one of 4 instructions, found 4"},
          {file(variables("[4294967295]")),
           "f#/variables/0/places/0: expected one of 4 instructions, found 4294967295"},
          {file(variables("[2]")),
           "f#/variables/0/places/0: expected an instruction with the variable's value 0x3, found "
           "'ret #1'"},
          {file(variables("[0]")),
           "f#/variables/0/places/0: expected an instruction that takes any operand, found 'ld "
           "[16]'"},
          {file("[" + variable(fd, "3", "[1]") + "," + variable(R"("b")", "3", "[1]") + "]"),
           "f#/variables/1/places/0: 1 is a place of 'fd' already"},
          {file(variables("[1,1]")),
           "f#/variables/0/places/1: expected ascending places, found 1 after 1"},
      },
      ErrorCode::kPolicy);
  const std::string legal = "[[0,0,0,3],[4,0,0,3],[4,0,0,3],[52,0,0,3],[22,0,0,0]]";
  EXPECT_TRUE(read_precompiled(file(variables("[0,1,2]"), legal), "f"));
  expect_errors({{file(variables("[2,1]"), legal),
                  "f#/variables/0/places/1: expected ascending places, found 1 after 2"},
                 {file(variables("[3]"), legal),
                  "f#/variables/0/places/0: expected an instruction that takes any operand, found "
                  "'div #3'"}},
                ErrorCode::kPolicy);
}

}  // namespace
}  // namespace secequiv
