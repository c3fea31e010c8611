// Mutants of small programs counted by hand, and laws that those of any program keep.
#include "harness/compare/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/bpf/check.h"
#include "harness/bpf/testing.h"
#include "harness/compare/mutation_report.h"
#include "harness/generate/random_program.h"

namespace secequiv {
namespace {

using Counts = std::map<std::string_view, std::size_t>;

// How many of each operator; those of none are left out.
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

// The mutants of one operator, as text.
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

// 32 flipped bits, and 0 - 1; 0 + 1 is a flipped bit. Without it nothing is left.
TEST(Mutants, OfOneReturn) {
  const Program program = assemble("ret #0");
  EXPECT_EQ(accepted(program), (Counts{{"return", 33}, {"opcode", 1}}));
  EXPECT_EQ(refused(program), (Counts{{"delete", 1}}));
}

TEST(Mutants, OfALoadAndReturnA) {
  const Program program = assemble("ld [0]\nret a");
  EXPECT_EQ(accepted(program), (Counts{{"load", 15}, {"delete", 1}}));
  // Without the return, and with the load behind it, a program does not end in one.
  EXPECT_EQ(refused(program), (Counts{{"delete", 1}, {"swap", 1}}));
}

TEST(Mutants, OfASmallFilter) {
  const Program program =
      assemble("ld [0]\njeq #39, ok, no\nok: ret #0x7fff0000\nno: ret #0x50001");
  EXPECT_EQ(accepted(program),
            (Counts{{"constant", 33},   // 32 bits; 38 is one of them, 40 is not
                    {"opcode", 7 + 2},  // seven other tests; RET|A twice
                    {"target", 3},      // jf nearer, jt farther, both swapped
                    {"load", 15},
                    {"return", 2 * (33 + 1)},  // as for the constant; the other value
                    {"delete", 3},
                    {"swap", 2}}));  // the test cannot move behind the instruction it jumps to
  // jf farther leaves the program; so does jf where the last instruction is missing.
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

TEST(Mutants, OfArithmetic) {
  const Program program = assemble("ld [16]\nadd #1\nlsh #2\nneg\nret a");
  const auto opcodes = texts(program, MutationOperator::kOpcode);
  for (const char* other : {"sub #1", "div #1", "rsh #1", "neg"})
    EXPECT_TRUE(contains(opcodes, std::string("add #1 becomes ") + other) ||
                contains(opcodes, std::string("add #1 becomes .raw 0x84, 0, 0, 1")))
        << other;
  // 18 others each; NEG has no k, so that it can be neither DIV|K nor refused for a shift.
  EXPECT_EQ(accepted(program)["opcode"], 18u + 18u + 17u);
  EXPECT_EQ(refused(program)["opcode"], 1u);
  // lsh by 2: bits 0 to 4, 1; 3 is bit 0. Add: as any.
  EXPECT_EQ(accepted(program)["constant"], (32u + 1u) + (5u + 1u));
  EXPECT_EQ(refused(program)["constant"], 27u);
}

TEST(Mutants, OfMemoryAndX) {
  const Program program = assemble("ld #5\nst M[3]\nldx M[3]\ntxa\nret a");
  EXPECT_EQ(texts(program, MutationOperator::kOpcode),
            (std::vector<std::string>{"ld #5 becomes ldx #5", "ldx M[3] becomes ld M[3]",
                                      "st M[3] becomes stx M[3]", "txa becomes tax"}));
  // Another word would be read before it is written.
  EXPECT_EQ(accepted(program)["load"], 0u);
  EXPECT_EQ(refused(program)["load"], 30u);
}

TEST(Mutants, DeletionMendsJumps) {
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

// One of two equal instructions that follow each other: whichever goes, the rest is the same.
TEST(Mutants, EqualProgramsCountOnce) {
  EXPECT_EQ(accepted(assemble("ld [0]\nld [0]\nret a"))["delete"], 1u);
  EXPECT_EQ(accepted(assemble("ld [0]\nld [0]\nret a"))["swap"], 0u);
}

class RandomMutants : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<std::uint64_t>(GetParam())};
  Program program = random_program(random, random.between(2, 40));
};

// Accepted, different from the program and from each other.
TEST_P(RandomMutants, AreLegalAndDistinct) {
  std::set<std::vector<std::uint64_t>> seen;
  for (const Mutant& mutant : mutants_of(program).accepted) {
    const Program made = mutated(program, mutant);
    EXPECT_FALSE(check(made, LengthRule::kUnlimited)) << describe(mutant, program);
    EXPECT_NE(made, program) << describe(mutant, program);
    std::vector<std::uint64_t> key;
    for (const Insn& in : made)
      key.push_back(std::uint64_t{in.k} << 32 | std::uint64_t{in.code} << 16 |
                    std::uint64_t{in.jt} << 8 | in.jf);
    EXPECT_TRUE(seen.insert(key).second) << describe(mutant, program);
  }
}

// What scoring relies on: an input that does not come by cannot tell the two apart.
TEST_P(RandomMutants, DifferOnlyOnInputsThatComeBy) {
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

// Over some random programs, every operator occurs, and every instruction that one could stand for.
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

TEST(MutationReport, Verdicts) {
  MutationReport report;
  EXPECT_EQ(report.verdict(), Verdict::kPass);
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
}  // namespace secequiv
