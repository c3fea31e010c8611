// Tests the vectors of the corpus and the reader that runs them.
#include <gtest/gtest.h>

#include <set>

#include "harness/bpf/testing.h"
#include "harness/seccomp/data.h"
#include "harness/seccomp/vector_file.h"

namespace secequiv::seccomp_vectors_test {
namespace {

std::vector<Vector> parsed(const std::string& text) {
  auto vectors = parse_vectors(text, "f.vec");
  if (vectors) return std::move(*vectors);
  ADD_FAILURE() << vectors.error().text();
  return {};
}

TEST(Vectors, EveryVectorInTheCorpusPasses) {
  const std::string corpus = SECEQUIV_SOURCE_DIR "/corpus/";
  const std::vector<std::string> directories = {corpus + "vectors", corpus + "regress"};
  const auto vectors = load_vectors(directories);
  ASSERT_TRUE(vectors) << vectors.error().text();
  EXPECT_GE(vectors->size(), 150u);
  std::set<RefusalRule> rules;
  for (const Vector& vector : *vectors) {
    for (const std::string& failure : check_vector(vector)) ADD_FAILURE() << failure;
    if (vector.refusal) rules.insert(vector.refusal->rule);
  }
  EXPECT_EQ(rules.size(), 11u) << "every refusal rule has a vector";
}

TEST(VectorFile, ReadsTheExampleInTheFormatDescription) {
  const auto vectors = parsed(
      "# Comments have their # in the first column.\n"
      "vector: one call allowed\n"
      "program:\n  ld [0]\n# inside\n  jeq #39, ok, bad\nok: ret #0x7fff0000\nbad: ret "
      "#0x50001\nend\n"
      "run: nr=39 -> 0x7fff0000\n"
      "run: nr=40 ip=0x7f0000001000 args=1,2,0xffffffffffffffff -> 0x50001\n"
      "\n"
      "vector: shift out of range\nprogram:\n  lsh #32\n  ret a\nend\naccept: no shift_range at 0\n"
      "vector: errno is capped\nsame: behaviour 0x50fff 0x5ffff yes\n");
  ASSERT_EQ(vectors.size(), 3u);
  EXPECT_EQ(vectors[0].name, "one call allowed");
  EXPECT_EQ(vectors[0].line, 2u);
  ASSERT_EQ(vectors[0].runs.size(), 2u);
  EXPECT_EQ(vectors[0].runs[0].input.arch(), 0xc000003eu);
  EXPECT_EQ(vectors[0].runs[1].line, 11u);
  EXPECT_EQ(vectors[0].runs[1].input, (SeccompData{40, 0xc000003e, 0x00001000, 0x7f00, 1, 0, 2, 0,
                                                   0xffffffff, 0xffffffff, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(vectors[1].refusal, (Refusal{RefusalRule::kShiftRange, 0}));
  EXPECT_EQ(vectors[2].sames[0].sameness, Sameness::kBehaviour);
  for (const Vector& vector : vectors) EXPECT_TRUE(check_vector(vector).empty());
}

TEST(VectorFile, ReadsProgramText) {
  const auto vectors = parsed(
      "vector: v\nprogram:\n"
      "start: one: ld [ 0 ]   ; comment /* not open\n"
      "/* over\nlines */ jne %x, end\n"
      ".repeat 3\nadd #1\n.endrepeat\n.repeat 0\nret #9\n.endrepeat\n"
      "end : .raw 0x16, 0, 0, 7\nend\n"
      "accept: yes\n");
  ASSERT_EQ(vectors.size(), 1u);
  EXPECT_EQ(asm_text(vectors[0].programs[0]), asm_text(Program{{kLdWAbs, 0, 0, 0},
                                                               {kJeqX, 0, 3, 0},
                                                               {kAddK, 0, 0, 1},
                                                               {kAddK, 0, 0, 1},
                                                               {kAddK, 0, 0, 1},
                                                               {kRetA, 0, 0, 7}}));
}

TEST(VectorFile, EmptyProgramIsRefusedForItsLength) {
  const auto vectors = parsed("vector: v\nprogram:\nend\naccept: no length at 0\n");
  ASSERT_EQ(vectors.size(), 1u);
  EXPECT_TRUE(vectors[0].programs[0].empty());
  EXPECT_TRUE(check_vector(vectors[0]).empty());
}

TEST(VectorFile, ErrorsNameTheLine) {
  const auto program = [](const std::string& text) {
    return "vector: v\nprogram:\n" + text + "\nend\nrun: -> 0\n";
  };
  const std::pair<std::string, const char*> cases[] = {
      {"", "f.vec:1: no vector in this file"},
      {"# nothing\n", "f.vec:1: no vector in this file"},
      {"run: nr=1 -> 2", "f.vec:1: expected 'vector:' first, found 'run: nr=1 -> 2'"},
      {"vector:", "f.vec:1: a vector needs a name"},
      {"vector: v\nsame: raw 1 1 yes\nvector: v\n", "f.vec:3: vector 'v' is defined twice"},
      {"vector: v\n", "f.vec:1: vector 'v': expected at least one of run, accept and same"},
      {"vector: v\nhello", "f.vec:2: expected 'key: value', found 'hello'"},
      {"vector: v\n run: -> 0", "f.vec:2: unknown key ' run'"},
      {"vector: v\nresult: 0", "f.vec:2: unknown key 'result'"},
      {"vector: v\nprogram: ld\nend", "f.vec:2: expected nothing after 'program:' on its line"},
      {"vector: v\nprogram:\nret #0\n", "f.vec:2: 'program:' without 'end'"},
      {"vector: v\nprogram:\nret #0\nvector: w\nend\n", "f.vec:2: 'program:' without 'end'"},
      {"vector: v\nprogram:\nret #0\nend\n", "f.vec:1: vector 'v': nothing uses the program"},
      {"vector: v\nprogram:\nret #0\nend\nsame: raw 1 1 yes",
       "f.vec:1: vector 'v': nothing uses the program"},
      {"vector: v\nrun: -> 0", "f.vec:1: vector 'v': run needs a program"},
      {"vector: v\naccept: yes", "f.vec:1: vector 'v': accept needs one program, found 0"},
      {"vector: v\nprogram:\nlsh #32\nret a\nend\naccept: no shift_range at 0\nrun: -> 0",
       "f.vec:1: vector 'v': a refused program cannot be run"},
      {"vector: v\naccept: yes\naccept: yes",
       "f.vec:3: expected at most one 'accept:' in a vector"},
      {"vector: v\naccept: maybe", "f.vec:2: expected 'yes' or 'no RULE at PC', found 'maybe'"},
      {"vector: v\naccept: no reason at 0", "f.vec:2: unknown rule 'reason'"},
      {"vector: v\naccept: no length at -1",
       "f.vec:2: expected a number from 0 to 0xffffffff, found '-1'"},
      {"vector: v\nsame: raw 1 yes",
       "f.vec:2: expected 'raw|behaviour A B yes|no', found 'raw 1 yes'"},
      {"vector: v\nsame: cooked 1 1 yes",
       "f.vec:2: expected 'raw|behaviour A B yes|no', found 'cooked 1 1 yes'"},
      {"vector: v\nsame: raw 1 1 true",
       "f.vec:2: expected 'raw|behaviour A B yes|no', found 'raw 1 1 true'"},
      {"vector: v\nsame: raw 010 1 yes",
       "f.vec:2: expected a number from 0 to 0xffffffff, found '010'"},
      {"vector: v\nrun: nr=1", "f.vec:2: expected '-> VALUE'"},
      {"vector: v\nrun: -> 0x100000000",
       "f.vec:2: expected a number from 0 to 0xffffffff, found '0x100000000'"},
      {"vector: v\nrun: -> ", "f.vec:2: expected a number from 0 to 0xffffffff, found ''"},
      {"vector: v\nrun: nr -> 0", "f.vec:2: unknown field 'nr'"},
      {"vector: v\nrun: pid=1 -> 0", "f.vec:2: unknown field 'pid=1'"},
      {"vector: v\nrun: nr=1 nr=2 -> 0", "f.vec:2: field 'nr' is given twice"},
      {"vector: v\nrun: nr=0x -> 0", "f.vec:2: expected a number from 0 to 0xffffffff, found '0x'"},
      {"vector: v\nrun: nr=+1 -> 0", "f.vec:2: expected a number from 0 to 0xffffffff, found '+1'"},
      {"vector: v\nrun: args=0,0,0,0,0,0,0 -> 0", "f.vec:2: args= takes at most 6 values, found 7"},
      {"vector: v\nrun: args= -> 0",
       "f.vec:2: expected a number from 0 to 0xffffffffffffffff, found ''"},
      {"vector: v\nrun: ip=0x10000000000000000 -> 0",
       "f.vec:2: expected a number from 0 to 0xffffffffffffffff, found '0x10000000000000000'"},
      {"vector: v\nrun: words=1,2,3 -> 0", "f.vec:2: words= needs 16 words, found 3"},
      {"vector: v\nrun: nr=1 words=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 -> 0",
       "f.vec:2: words= cannot be combined with other fields"},
      {"vector: \xff", "f.vec:1: not UTF-8 at byte 8"},
      {program("foo #1"), "f.vec:3: expected an instruction, found 'foo'"},
      {program("ret #0\n\n ret #08"), "f.vec:5: expected one instruction, found 'ret #08'"},
      {program("ret #-1"), "f.vec:3: expected one instruction, found 'ret #-1'"},
      {program("tax txa\nret #0"), "f.vec:3: expected one instruction, found 'tax txa'"},
      {program("tax\nret"), "f.vec:4: expected an operand, found the end of the input"},
      {program("ret\n #0"), "f.vec:4: expected one instruction, found '#0'"},
      {program("RET #0"), "f.vec:3: expected one instruction, found 'RET #0'"},
      {program("ldh [0]\nret #0"), "f.vec:3: expected one instruction, found 'ldh [0]'"},
      {program("ld [x + 1]\nret #0"), "f.vec:3: expected one instruction, found 'ld [x + 1]'"},
      {program("ret #0 // no"), "f.vec:3: expected one instruction, found 'ret #0 // no'"},
      {program("ret #0 /* no"), "f.vec:3: comment is not closed"},
      {program("ret #0\n/* one */\n/* no"), "f.vec:5: comment is not closed"},
      {program("x: ret #0"), "f.vec:3: label 'x' is a register's name"},
      {program("l: ja l\nret #0"), "f.vec:3: label 'l' is not ahead: jumps only go forward"},
      {program("l:\nl: ret #0"), "f.vec:4: label 'l' is defined twice"},
      {program(".repeat 2\nadd #1\nret #0"), "f.vec:3: .repeat without .endrepeat"},
      {program(".endrepeat\nret #0"), "f.vec:3: .endrepeat without .repeat"},
      {program(".repeat 2\n.repeat 2\nret #0"), "f.vec:4: .repeat inside .repeat"},
      {program(".repeat\nret #0"), "f.vec:3: expected .repeat N"},
      {program(".repeat 2\nadd #1\nl: ret #0\n.endrepeat"), "f.vec:5: label inside .repeat"},
      {program(".repeat 3\nadd #1\n.endrepeat\n\nja nowhere\nret #0"),
       "f.vec:7: unknown label 'nowhere'"},
      {program(".raw 1, 2, 3\nret #0"), "f.vec:3: expected one instruction, found '.raw 1, 2, 3'"},
      {program(".raw 1, 256, 3, 4\nret #0"), "f.vec:3: expected jt from 0 to 255, found '256'"},
      {program("jeq #1, far\n.repeat 256\nadd #1\n.endrepeat\nfar: ret #0"),
       "f.vec:3: label 'far' is 256 instructions away, but a conditional jump reaches only 255"},
  };
  for (const auto& [text, expected] : cases) {
    const auto vectors = parse_vectors(text, "f.vec");
    ASSERT_FALSE(vectors) << text;
    EXPECT_EQ(vectors.error().code, ErrorCode::kParse);
    EXPECT_EQ(vectors.error().text(), expected) << text;
  }
}

// A runner that cannot report failures would prove nothing.
TEST(VectorFile, FailuresAreReported) {
  const std::pair<const char*, const char*> cases[] = {
      {"vector: v\nprogram:\nret #1\nend\nrun: -> 1\nrun: -> 2\n",
       "f.vec:6: v: expected 0x00000002, got 0x00000001"},
      {"vector: v\nprogram:\nret #0x50001\nend\nprogram:\nret #0x50002\nend\nrun: -> 0x50002\n",
       "f.vec:8: v: expected 0x00050002, got 0x00050001"},
      {"vector: v\nprogram:\nret #1\nend\naccept: no length at 0\n",
       "f.vec:1: v: expected no length at 0, got yes"},
      {"vector: v\nprogram:\nlsh #32\nret #1\nend\naccept: yes\n",
       "f.vec:1: v: expected yes, got no shift_range at 0"},
      {"vector: v\nprogram:\nlsh #32\nret #1\nend\nrun: -> 1\n",
       "f.vec:1: v: expected yes, got no shift_range at 0"},
      {"vector: v\nsame: raw 1 2 yes\n", "f.vec:2: v: expected yes, got no"},
      {"vector: v\nsame: behaviour 1 2 no\n", "f.vec:2: v: expected no, got yes"},
  };
  for (const auto& [text, expected] : cases) {
    const auto vectors = parsed(text);
    ASSERT_EQ(vectors.size(), 1u);
    EXPECT_EQ(check_vector(vectors[0]), std::vector<std::string>{expected}) << text;
  }
}

TEST(VectorFile, LongProgramsRunButAreRefused) {
  const std::string program = "program:\n.repeat 5000\nadd #1\n.endrepeat\nret a\nend\n";
  EXPECT_TRUE(check_vector(parsed("vector: v\n" + program + "run: -> 5000\n")[0]).empty());
  EXPECT_TRUE(
      check_vector(parsed("vector: v\n" + program + "accept: no length at 0\n")[0]).empty());
}

TEST(VectorFile, MissingDirectoriesHoldNoVectors) {
  const std::vector<std::string> directories = {"/nonexistent/vectors"};
  const auto vectors = load_vectors(directories);
  ASSERT_TRUE(vectors);
  EXPECT_TRUE(vectors->empty());
}

}  // namespace
}  // namespace secequiv::seccomp_vectors_test
