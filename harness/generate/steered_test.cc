#include "harness/generate/steered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/bpf/flow.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"

namespace secequiv::generate_steered_test {
namespace {

std::set<std::string> classes_of(std::string_view text) {
  std::set<std::string> out;
  for (const std::uint16_t index : describe_shape(assemble(text))) {
    const ShapeClass& one = shape_classes()[index];
    EXPECT_TRUE(out.insert(one.group + ": " + one.name).second) << one.name;
  }
  return out;
}

void expect_classes(std::string_view text, const std::vector<std::string>& expected) {
  const auto found = classes_of(text);
  for (const std::string& name : expected)
    EXPECT_TRUE(found.contains(name)) << name << "\n" << text;
}

TEST(DescribeShape, NamesPairsOperandsAndUses) {
  expect_classes("ld #1\nldx #32\nlsh x\ntax\nld #0x80000000\nsub x\nret a\n",
                 {"pairs: ld const, ldx const", "pairs: alu x, tax", "pairs: alu x, ret a",
                  "operands: lsh x 0x20", "uses: A after 1", "uses: A after 2", "uses: X after 1",
                  "uses: X after 2", "live scratch words: 0", "instructions: 1-8",
                  "equal-shaped tests: 0-3", "dead code: no"});
  expect_classes("ld #1\ntax\nldx #0\nld [0]\ndiv x\nrsh #31\nret a\n",
                 {"operands: div x 0x0", "operands: rsh k 0x1f", "pairs: ldx const, ld word"});
  // TAX copies a constant.
  expect_classes("ld #0xffffffff\ntax\nadd x\nret a\n", {"operands: add x 0xffffffff"});
}

TEST(DescribeShape, SeesJoinsJumpsAndDeadCode) {
  const auto found = classes_of(
      "ld [0]\nst M[0]\njeq #1, y, n\ny: ldx #2\nstx M[0]\nn: ld M[0]\nja e\nret #0\ne: ret a\n");
  for (const char* name :
       {"pairs: test k, ld M", "pairs: stx, ld M", "uses: M after 1, across a join", "jumps: if 0",
        "jumps: if 1-15", "jumps: ja 1-15", "live scratch words: 1", "dead code: yes"})
    EXPECT_TRUE(found.contains(name)) << name;
  // X may also hold 0 after the join.
  EXPECT_FALSE(classes_of("ld [0]\njeq #1, y, n\ny: ldx #1\nn: add x\nret a\n")
                   .contains("operands: add x 0x1"));
}

TEST(DescribeShape, CountsEqualShapedTests) {
  for (const auto& [entries, name] : std::vector<std::pair<int, std::string>>{
           {3, "0-3"}, {17, "16-99"}, {101, "100-255"}, {257, "256+"}}) {
    std::string text = "ld [0]\n";
    for (int i = 0; i < entries; ++i)
      text += "jne #" + std::to_string(i) + ", n" + std::to_string(i) + "\nret #7\nn" +
              std::to_string(i) + ":\n";
    EXPECT_TRUE(classes_of(text + "ret #0\n").contains("equal-shaped tests: " + name)) << entries;
  }
}

TEST(SteeredPrograms, EveryClassOccursOften) {
  constexpr int kPrograms = 20'000;
  SteeredPrograms steered;
  Random random(330);
  std::vector<std::uint64_t> unsteered(shape_classes().size());
  for (int i = 0; i < kPrograms; ++i) {
    const Program program = steered.next(random);
    ASSERT_FALSE(refusal_of(program)) << asm_text(program);
    for (const std::uint16_t index : describe_shape(generate_program(random))) ++unsteered[index];
  }
  std::size_t more = 0;
  std::size_t rare = 0;
  for (std::size_t i = 0; i < unsteered.size(); ++i) {
    const ShapeClass& one = shape_classes()[i];
    EXPECT_GE(steered.counts()[i], 5u) << one.group << ": " << one.name;
    if (unsteered[i] > 50) continue;
    ++rare;
    more += steered.counts()[i] > 2 * unsteered[i] ? 1 : 0;
  }
  // Feedback makes rare classes more frequent.
  EXPECT_GT(rare, 0u);
  EXPECT_GE(more * 2, rare);
}

TEST(SteeredPrograms, TheSameSeedGivesTheSamePrograms) {
  SteeredPrograms first;
  SteeredPrograms second;
  Random one(331);
  Random two(331);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(first.next(one), second.next(two)) << i;
}

TEST(SteeredPrograms, LeavesOutDeadCodeOnRequest) {
  SteeredPrograms steered({.dead_code = false});
  Random random(332);
  for (int i = 0; i < 3000; ++i) {
    const Program program = steered.next(random);
    ASSERT_FALSE(refusal_of(program)) << asm_text(program);
    const auto reached = reachable(program);
    ASSERT_EQ(std::ranges::find(reached, 0), reached.end()) << asm_text(program);
  }
}

TEST(SteeredPrograms, HalfOfThemResembleKeptPrograms) {
  constexpr std::uint32_t kMarker = 0x7abc1234;
  SteeredPrograms steered;
  // ld #k; tax; add x; ret #k
  steered.keep({Insn{0x00, 0, 0, kMarker}, Insn{0x07, 0, 0, 0}, Insn{0x0c, 0, 0, 0},
                Insn{0x06, 0, 0, kMarker}});
  Random random(1);
  int resemble = 0;
  for (int i = 0; i < 1000; ++i) {
    const Program program = steered.next(random);
    ASSERT_FALSE(refusal_of(program)) << i;
    resemble +=
        std::ranges::any_of(program, [](const Insn& in) { return in.k == kMarker; }) ? 1 : 0;
  }
  EXPECT_GT(resemble, 400);
  EXPECT_LT(resemble, 800);
}

}  // namespace
}  // namespace secequiv::generate_steered_test
