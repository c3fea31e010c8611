#include "harness/seccomp/annotate.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::seccomp_annotate_test {
namespace {

std::string comments(const Program& program) {
  std::string out;
  for (const std::string& comment : annotate(program)) out += comment + "\n";
  return out;
}

TEST(Annotate, NamesLoadsComparisonsAndReturns) {
  EXPECT_EQ(comments(assemble("ld [4]\n"
                              "jeq #0xc000003e, next, bad\n"
                              "next: ld [0]\n"
                              "jge #0x40000000, bad, number\n"
                              "number: jeq #257, openat, other\n"
                              "openat: ld [36]\n"
                              "jeq #0, low, bad\n"
                              "low: ld [32]\n"
                              "and #3\n"
                              "jeq #0, good, bad\n"
                              "other: jgt #500, bad, good\n"
                              "good: ret #0x7fff0000\n"
                              "bad: ret #0x50001\n")),
            "A = arch\n"
            "arch == x86_64\n"
            "A = nr\n"
            "nr >= 0x40000000\n"
            "nr == openat\n"
            "A = args[2].hi\n"
            "args[2].hi == 0\n"
            "A = args[2].lo\n"
            "\n"
            "(args[2].lo & 0x3) == 0\n"
            "nr > 0x1f4\n"
            "return ALLOW\n"
            "return ERRNO(1 EPERM)\n");
}

// A range has no name of its own, so the name of the call stands beside the number.
TEST(Annotate, RangesOfNumbersShowTheNumberAndTheName) {
  const std::string text = comments(
      assemble("ld [4]\njeq #0xc000003e, n, bad\nn: ld [0]\njge #257, one, two\none: jgt "
               "#0x40000001, two, good\ntwo: jset #1, good, bad\ngood: ret #0x7fff0000\nbad: ret "
               "#0x50001"));
  EXPECT_NE(text.find("nr >= 0x101 (openat)\nnr > 0x40000001 (write)\nnr & 1\n"), std::string::npos)
      << text;
}

// A tested architecture takes precedence over the assumed one. If the test for the assumed one
// fails, numbers get no names.
TEST(Annotate, AnAssumedArchitectureNamesCallsWhereNoneIsTested) {
  const auto of = [](const char* text, Arch assumed) {
    std::string out;
    for (const std::string& comment : annotate(assemble(text), assumed)) out += comment + "\n";
    return out;
  };
  const char* const untested = "ld [0]\njeq #4, y, n\ny: ret #0x7fff0000\nn: ret #0";
  EXPECT_NE(comments(assemble(untested)).find("nr == 4\n"), std::string::npos);
  EXPECT_NE(of(untested, Arch::kX86_64).find("nr == stat\n"), std::string::npos);
  EXPECT_NE(of(untested, Arch::kI386).find("nr == write\n"), std::string::npos);
  const char* const tested =
      "ld [4]\njeq #0xc000003e, y, n\ny: ld [0]\njeq #4, good, bad\nn: ld [0]\njeq #4, good, bad\n"
      "good: ret #0x7fff0000\nbad: ret #0";
  EXPECT_EQ(of(tested, Arch::kX86_64),
            "A = arch\narch == x86_64\nA = nr\nnr == stat\nA = nr\nnr == 4\nreturn ALLOW\nreturn "
            "KILL_THREAD\n");
  EXPECT_EQ(of(tested, Arch::kI386),
            "A = arch\narch == x86_64\nA = nr\nnr == stat\nA = nr\nnr == write\nreturn "
            "ALLOW\nreturn KILL_THREAD\n");
}

// Names of calls follow the architecture that the path tested. Names of argument halves follow its
// byte order.
TEST(Annotate, NamesFollowTheTestedArchitecture) {
  EXPECT_EQ(comments(assemble("ld [4]\n"
                              "jeq #0x80000016, big, little\n"
                              "big: ld [0]\n"
                              "jeq #4, first, bad\n"
                              "first: ld [16]\n"
                              "jset #1, bad, good\n"
                              "little: jeq #0x40000003, i386, bad\n"
                              "i386: ld [0]\n"
                              "jeq #4, second, bad\n"
                              "second: ld [16]\n"
                              "jset #1, bad, good\n"
                              "good: ret #0x7fff0000\n"
                              "bad: ret #0x80000000\n")),
            "A = arch\n"
            "arch == s390x\n"
            "A = nr\n"
            "nr == write\n"
            "A = args[0].hi\n"
            "args[0].hi & 1\n"
            "arch == i386\n"
            "A = nr\n"
            "nr == write\n"
            "A = args[0].lo\n"
            "args[0].lo & 1\n"
            "return ALLOW\n"
            "return KILL_PROCESS\n");
}

TEST(Annotate, OmitsNamesWherePathsDisagree) {
  // Either architecture is possible, so the number gets no name.
  EXPECT_EQ(comments(assemble("ld [4]\njeq #0xc000003e, on, more\nmore: jeq #0x40000003, on, "
                              "bad\non: ld [0]\njeq #3, bad, good\n"
                              "good: ret #0x7fff0000\nbad: ret #0")),
            "A = arch\narch == x86_64\narch == i386\nA = nr\nnr == 3\nreturn ALLOW\nreturn "
            "KILL_THREAD\n");
  // A failed test for one architecture does not name the other.
  EXPECT_EQ(comments(assemble("ld [4]\njeq #0xc000003e, good, off\noff: ld [0]\njeq #3, good, bad\n"
                              "good: ret #0x7fff0000\nbad: ret #0")),
            "A = arch\narch == x86_64\nA = nr\nnr == 3\nreturn ALLOW\nreturn KILL_THREAD\n");
  // A holds one of two words, so the comparison gets no comment.
  EXPECT_EQ(
      comments(assemble("ld [0]\njeq #1, z, b\nz: ld [16]\nb: jeq #2, c, d\nc: ret #1\nd: ret a")),
      "A = nr\nnr == 1\nA = args[0].lo\n\nreturn KILL_THREAD(1)\n\n");
  // No table knows this architecture.
  EXPECT_EQ(comments(assemble("ld [4]\njeq #0x12345678, z, b\nz: ret #1\nb: ret a")),
            "A = arch\narch == 0x12345678\nreturn KILL_THREAD(1)\n\n");
}

TEST(Annotate, MarksUnreachableCode) {
  EXPECT_EQ(comments(assemble("ja end\nadd #1\nneg\nend: ret #0x7fff0000")),
            "\nunreachable\nunreachable\nreturn ALLOW\n");
}

TEST(Annotate, RefusedProgramsGetLoadsAndReturnsOnly) {
  EXPECT_EQ(comments(assemble("ld [0]\njeq #1, z, b\nz: ret #0x7fff0000\nb: ld [4]")),
            "A = nr\n\nreturn ALLOW\nA = arch\n");
  EXPECT_EQ(comments(assemble("ld [64]\nld [2]\nret #0")), "\n\nreturn KILL_THREAD\n");
  EXPECT_EQ(comments({}), "");
}

TEST(Annotate, EveryProgramGetsOneCommentPerInstruction) {
  Random random(30);
  for (int i = 0; i < 1000; ++i) {
    const Program program = random.one_in(2) ? random_garbage(random, random.between(1, 20), false)
                                             : random_program(random, random.between(1, 60));
    EXPECT_EQ(annotate(program).size(), program.size());
  }
}

}  // namespace
}  // namespace secequiv::seccomp_annotate_test
