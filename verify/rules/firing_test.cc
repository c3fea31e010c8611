// Tests where rewrites fire in programs and what applying them gives.
#include "verify/rules/firing.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "verify/rules/window.h"

namespace secequiv::rules::firing_test {
namespace {

constexpr const char* kJoin = R"(rule t
  where: $a & $b == 0
  before:
    jset #$a, yes, l1
    l1: jset #$b, yes, no
  after:
    jset #($a | $b), yes, no
)";
constexpr const char* kMask = R"(rule t
  live: X, M
  before:
    and #$m
    jeq #0, yes, no
  after:
    jset #$m, no, yes
)";

std::string rewritten(const char* rule, const char* text) {
  const auto read = read_rule(rule);
  if (!read) return read.error().text();
  const Program program = assemble(text);
  return asm_text(rewrite(program, {read->member()}).program);
}

TEST(RuleFiring, ReplacesCodeAndRepairsJumps) {
  EXPECT_EQ(rewritten(kJoin,
                      "ld [0]\njeq #9, f, n\nn: jset #1, y, m\nm: jset #2, y, f\n"
                      "y: ret #1\nf: ret #2"),
            asm_text(assemble("ld [0]\njeq #9, f, n\nn: jset #3, y, f\ny: ret #1\nf: ret #2")));
  // Equal returns are the same exit.
  EXPECT_EQ(
      rewritten(kJoin, "ld [0]\njset #1, y, m\nm: jset #2, z, f\ny: ret #1\nf: ret #2\nz: ret #1"),
      asm_text(assemble("ld [0]\njset #3, y, f\ny: ret #1\nf: ret #2\nz: ret #1")));
}

TEST(RuleFiring, DoesNotFireWhereTheRuleSaysNothing) {
  const std::pair<const char*, const char*> cases[] = {
      // the condition is false
      {kJoin, "ld [0]\njset #1, y, m\nm: jset #3, y, f\ny: ret #1\nf: ret #2"},
      // the exits differ
      {kJoin, "ld [0]\njset #1, y, m\nm: jset #2, f, y\ny: ret #1\nf: ret #2"},
      // a jump enters the middle
      {kJoin, "ld [0]\njeq #8, m, n\nn: jset #1, y, m\nm: jset #2, y, f\ny: ret #1\nf: ret #2"},
      // A is live at an exit
      {kMask, "ld [0]\nand #4\njeq #0, y, n\ny: ret #1\nn: ret a"},
      // another number than the rule's
      {kMask, "ld [0]\nand #4\njeq #4, y, n\ny: ret #1\nn: ret #2"}};
  for (const auto& [rule, text] : cases) EXPECT_EQ(rewritten(rule, text), asm_text(assemble(text)));
  EXPECT_EQ(rewritten(kMask, "ld [0]\nand #4\njeq #0, y, n\ny: ret #1\nn: ret #2"),
            asm_text(assemble("ld [0]\njset #4, n, y\ny: ret #1\nn: ret #2")));
}

TEST(RuleFiring, AcceptsAConditionOnALoadedWord) {
  constexpr const char* kAgain = "rule t\nwhere: A == [$o]\nbefore:\nld [$o]\nafter:\n";
  EXPECT_EQ(rewritten(kAgain, "ld [4]\njeq #1, l, l\nl: ld [4]\nret a"),
            asm_text(assemble("ld [4]\njeq #1, l, l\nl: ret a")));
  const char* other = "ld [4]\nadd #1\nld [4]\nret a";
  EXPECT_EQ(rewritten(kAgain, other), asm_text(assemble(other)));
}

}  // namespace
}  // namespace secequiv::rules::firing_test
