// Tests mutants of small programs, counted by hand, and properties of the mutants of random
// programs.
#include "harness/compare/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/compare/mutation_report.h"
#include "harness/generate/random_program.h"

namespace secequiv::compare_mutants_test {
namespace {

using Counts = std::map<std::string_view, std::size_t>;

// Counts the accepted mutants of each operator; operators without mutants are absent.
Counts accepted(ProgramView program) {
  Counts out;
  for (const Mutant& mutant : mutants_of(program).accepted) ++out[operator_name(mutant.op)];
  return out;
}

Counts refused(ProgramView program) {
  Counts out;
  const Mutants mutants = mutants_of(program);
  for (std::size_t op = 0; op < kMutationOperators; ++op)
    if (mutants.refused[op] > 0)
      out[operator_name(static_cast<MutationOperator>(op))] = mutants.refused[op];
  return out;
}

// Returns the mutants of one operator as text.
std::vector<std::string> texts(ProgramView program, MutationOperator op) {
  std::vector<std::string> out;
  for (const Mutant& mutant : mutants_of(program).accepted)
    if (mutant.op == op) out.push_back(describe(mutant, program));
  std::ranges::sort(out);
  return out;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

// The return gives 33 mutants: one with each bit flipped, and 0 - 1. (0 + 1 is a flipped bit.)
// Deleting the return leaves an empty program, which the kernel refuses.
TEST(Mutants, CountsMutantsOfOneReturn) {
  const Program program = assemble("ret #0");
  EXPECT_EQ(accepted(program), (Counts{{"return", 33}, {"opcode", 1}}));
  EXPECT_EQ(refused(program), (Counts{{"delete", 1}}));
}

TEST(Mutants, CountsMutantsOfALoadAndReturnA) {
  const Program program = assemble("ld [0]\nret a");
  EXPECT_EQ(accepted(program), (Counts{{"load", 15}, {"delete", 1}}));
  // Without its return, or with the load after it, the program does not end in a RET.
  EXPECT_EQ(refused(program), (Counts{{"delete", 1}, {"swap", 1}}));
}

TEST(Mutants, CountsMutantsOfASmallFilter) {
  const Program program =
      assemble("ld [0]\njeq #39, ok, no\nok: ret #0x7fff0000\nno: ret #0x50001");
  EXPECT_EQ(accepted(program),
            (Counts{{"constant", 33},   // 32 flipped bits and k+1; k-1 is one of the flips
                    {"opcode", 7 + 2},  // seven other comparisons; RET|A twice
                    {"target", 3},      // jf nearer, jt farther, both swapped
                    {"load", 15},
                    {"return", 2 * (33 + 1)},  // 33 as for the constant, and the other return value
                    {"delete", 3},
                    // The comparison cannot move after the instruction that it jumps to.
                    {"swap", 2}}));
  // A jump leaves the program if jf grows by one or if the last instruction is deleted.
  EXPECT_EQ(refused(program), (Counts{{"target", 1}, {"delete", 1}}));
  EXPECT_EQ(texts(program, MutationOperator::kTarget),
            (std::vector<std::string>{"jeq #0x27, L2, L3 becomes jeq #0x27, L2, L2",
                                      "jeq #0x27, L2, L3 becomes jeq #0x27, L3, L2",
                                      "jeq #0x27, L2, L3 becomes jeq #0x27, L3, L3"}));
  EXPECT_EQ(texts(program, MutationOperator::kDelete),
            (std::vector<std::string>{"jeq #0x27, L2, L3 left out", "ld [0] left out",
                                      "ret #0x7fff0000 left out"}));
  EXPECT_EQ(texts(program, MutationOperator::kSwap),
            (std::vector<std::string>{"ld [0] swapped with jeq #0x27, L2, L3",
                                      "ret #0x7fff0000 swapped with ret #0x50001"}));
}

TEST(Mutants, CountsMutantsOfArithmetic) {
  const Program program = assemble("ld [16]\nadd #1\nlsh #2\nneg\nret a");
  const auto opcodes = texts(program, MutationOperator::kOpcode);
  for (const char* other : {"sub #1", "div #1", "rsh #1", "neg"})
    EXPECT_TRUE(contains(opcodes, std::string("add #1 becomes ") + other) ||
                contains(opcodes, std::string("add #1 becomes .raw 0x84, 0, 0, 1")))
        << other;
  // Each of the three operations can become 18 others. NEG has no k, so it does not become DIV|K by
  // 0.
  EXPECT_EQ(accepted(program)["opcode"], 18u + 18u + 17u);
  EXPECT_EQ(refused(program)["opcode"], 1u);
  // For `add`, every value is legal. For `lsh #2`, the flips of bits 0 to 4 (one gives k+1) and k-1
  // are legal.
  EXPECT_EQ(accepted(program)["constant"], (32u + 1u) + (5u + 1u));
  EXPECT_EQ(refused(program)["constant"], 27u);
}

TEST(Mutants, CountsMutantsOfMemoryAndX) {
  const Program program = assemble("ld #5\nst M[3]\nldx M[3]\ntxa\nret a");
  EXPECT_EQ(texts(program, MutationOperator::kOpcode),
            (std::vector<std::string>{"ld #5 becomes ldx #5", "ldx M[3] becomes ld M[3]",
                                      "st M[3] becomes stx M[3]", "txa becomes tax"}));
  // The program would read every other word of M[] before it writes that word.
  EXPECT_EQ(accepted(program)["load"], 0u);
  EXPECT_EQ(refused(program)["load"], 30u);
}

TEST(Mutants, DeletionAdjustsJumps) {
  const Program program = assemble("ja over\nld [0]\nover: ld [4]\nret a");
  const Mutants mutants = mutants_of(program);
  std::vector<std::string> shorter;
  for (const Mutant& mutant : mutants.accepted)
    if (mutant.op == MutationOperator::kDelete)
      shorter.push_back(asm_text(mutated(program, mutant)));
  EXPECT_EQ(shorter,
            (std::vector<std::string>{asm_text(assemble("ld [0]\nld [4]\nret a")),
                                      asm_text(assemble("ja over\nover: ld [4]\nret a")),
                                      asm_text(assemble("ja over\nld [0]\nover: ret a"))}));
}

// Deleting either of two equal neighbours gives the same program.
TEST(Mutants, EqualProgramsCountOnce) {
  EXPECT_EQ(accepted(assemble("ld [0]\nld [0]\nret a"))["delete"], 1u);
  EXPECT_EQ(accepted(assemble("ld [0]\nld [0]\nret a"))["swap"], 0u);
}

class RandomMutants : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<std::uint64_t>(GetParam())};
  Program program = random_program(random, random.between(2, 40));
};

// Mutants are legal, and differ from the program and from each other.
TEST_P(RandomMutants, AreLegalAndDistinct) {
  std::set<std::vector<std::uint64_t>> seen;
  for (const Mutant& mutant : mutants_of(program).accepted) {
    const Program made = mutated(program, mutant);
    EXPECT_FALSE(refusal_of(made, LengthRule::kUnlimited)) << describe(mutant, program);
    EXPECT_NE(made, program) << describe(mutant, program);
    std::vector<std::uint64_t> key;
    for (const Insn& in : made)
      key.push_back(std::uint64_t{in.k} << 32 | std::uint64_t{in.code} << 16 |
                    std::uint64_t{in.jt} << 8 | in.jf);
    EXPECT_TRUE(seen.insert(key).second) << describe(mutant, program);
  }
}

// The mutation score relies on this: an input that does not reach the changed instruction gets the
// same decision.
TEST_P(RandomMutants, DifferOnlyOnInputsThatReachTheChange) {
  struct Visited {
    const Insn* base;
    std::set<std::size_t> pcs;
    void at(const Insn* pc, const Machine<Concrete>&) {
      pcs.insert(static_cast<std::size_t>(pc - base));
    }
    void outcome(const Insn*, bool) {}
  };
  const auto inputs = random_inputs(random, program, 30);
  std::array<std::size_t, 2> storage;
  for (const Mutant& mutant : mutants_of(program).accepted) {
    const Program made = mutated(program, mutant);
    for (const SeccompData& input : inputs) {
      Visited visited{program.data(), {}};
      if (run_observed(program, input, visited) == run(made, input)) continue;
      EXPECT_TRUE(std::ranges::any_of(sites(mutant, storage),
                                      [&](std::size_t pc) { return visited.pcs.contains(pc); }))
          << describe(mutant, program) << "\n"
          << asm_text(program);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMutants, testing::Range(1, 60));

// Over some random programs, every operator must occur, and every instruction that an operator can
// insert.
TEST(Mutants, EveryOperatorAndInstructionOccurs) {
  Random random(61);
  Counts total;
  std::set<std::uint16_t> codes;
  for (int i = 0; i < 40; ++i) {
    const Program program = random_program(random, 60);
    for (const Mutant& mutant : mutants_of(program).accepted) {
      ++total[operator_name(mutant.op)];
      if (mutant.op == MutationOperator::kOpcode) codes.insert(mutant.changed.code);
    }
  }
  EXPECT_EQ(total.size(), kMutationOperators);
  for (const std::uint16_t code :
       {kJeqK,   kJgtK,  kJgeK, kJsetK, kJeqX,  kJgtX,   kJgeX,  kJsetX,
        kAddK,   kSubX,  kDivX, kRshK,  kNeg,   kTax,    kTxa,   kRetA,
        kLdxMem, kLdMem, kSt,   kStx,   kLdImm, kLdxImm, kLdLen, kLdxLen})
    EXPECT_TRUE(codes.contains(code)) << insn_info(code)->name;
}

// Runs in its own process, because a request to stop cannot be withdrawn.
TEST(MutantsDeathTest, NoMutantIsMadeAfterAnInterrupt) {
  const auto stopped = [] {
    want_stop();
    const Mutants mutants = mutants_of(assemble("ld [0]\njeq #1, y, n\ny: ret #1\nn: ret #0\n"));
    std::exit(mutants.accepted.empty() && mutants.refused[0] == 0 && !mutants.complete ? 0 : 1);
  };
  EXPECT_EXIT(stopped(), testing::ExitedWithCode(0), "");
  EXPECT_TRUE(mutants_of(assemble("ret #0\n")).complete);
}

TEST(MutationReport, VerdictFollowsTheCounts) {
  MutationReport report;
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  report.listed = false;
  EXPECT_EQ(report.verdict(), Verdict::kUnknown);
  report.listed = true;
  report.operators[1].by_inputs = report.operators[2].by_fuzzing = 5;
  report.operators[3].equivalent = 1;
  EXPECT_EQ(report.verdict(), Verdict::kPass);
  report.operators[4].unproven = 1;
  EXPECT_EQ(report.verdict(), Verdict::kUnknown);
  report.operators[4].unproven = 0;
  report.operators[5].undecided = 1;
  EXPECT_EQ(report.verdict(), Verdict::kUnknown);
  report.operators[6].survived = 1;
  EXPECT_EQ(report.verdict(), Verdict::kFail);
  EXPECT_EQ(report.total().different(), 11u);
}

}  // namespace
}  // namespace secequiv::compare_mutants_test
