#include "harness/bpf/flow.h"

#include <gtest/gtest.h>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::bpf_flow_test {
namespace {

// Returns "nr", "nr&0xff", "?" or "-" for each instruction.
std::string flow_text(const Program& program) {
  std::string out;
  for (const Accumulator& a : accumulator_flow(program)) {
    if (a.kind == Accumulator::Kind::kUnreached) out += "- ";
    if (a.kind == Accumulator::Kind::kUnknown) out += "? ";
    if (a.kind == Accumulator::Kind::kWord)
      out += std::to_string(a.word) +
             (a.mask == 0xffffffff ? " " : "&" + std::to_string(a.mask) + " ");
  }
  return out;
}

TEST(Flow, SuccessorsAreDistinctWithTheTrueSideFirst) {
  const Program program = assemble("jeq #1, z, b\nz: ja c\nb: jeq #1, c, c\nc: ld [0]\nret a");
  std::size_t to[2];
  ASSERT_EQ(successors(program, 0, to), 2u);
  EXPECT_EQ(to[0], 1u) << "the true side comes first";
  EXPECT_EQ(to[1], 2u);
  ASSERT_EQ(successors(program, 1, to), 1u);
  EXPECT_EQ(to[0], 3u);
  EXPECT_EQ(successors(program, 2, to), 1u) << "equal targets are one successor";
  ASSERT_EQ(successors(program, 3, to), 1u);
  EXPECT_EQ(to[0], 4u);
  EXPECT_EQ(successors(program, 4, to), 0u);
}

TEST(Flow, TracksTheAccumulator) {
  EXPECT_EQ(flow_text(assemble("ld [4]\nand #0xff\nand #0x70f\nldx #1\nst M[0]\nstx M[1]\ntax\nldx "
                               "M[0]\nldx #len\nadd #1\nret a")),
            "? 1 1&255 1&15 1&15 1&15 1&15 1&15 1&15 1&15 ? ");
  // Every other write to A makes it unknown. At the program's entry A is 0, which is not an input
  // word.
  for (const char* text :
       {"ld #1", "ld #len", "ld M[0]", "txa", "sub x", "and x", "neg", "or #1"}) {
    const Program program = assemble(std::string("st M[0]\nld [0]\n") + text + "\nret a");
    EXPECT_EQ(flow_text(program), "? ? 0 ? ") << text;
  }
}

TEST(Flow, JoiningPathsKeepOnlyCommonFacts) {
  EXPECT_EQ(flow_text(assemble("ld [0]\njeq #1, z, b\nz: ld [0]\nb: ret a")), "? 0 0 0 ");
  EXPECT_EQ(flow_text(assemble("ld [0]\njeq #1, z, b\nz: ld [4]\nb: ret a")), "? 0 0 ? ");
  EXPECT_EQ(flow_text(assemble("ld [0]\njeq #1, z, b\nz: and #1\nb: ret a")), "? 0 0 ? ");
  EXPECT_EQ(flow_text(assemble("ret #0\nld [0]\nret a")), "? - - ");
}

TEST(Flow, ReachabilityIgnoresConditions) {
  EXPECT_EQ(reachable(assemble("ja z\nret #1\nz: jeq #1, b, b\nret #2\nb: ret #3\nret #4")),
            (Marks{1, 0, 1, 0, 1, 0}));
}

// Runs random programs to check what the analysis claims about A.
TEST(Flow, AnalysisHoldsInRandomRuns) {
  struct Witness {
    const Insn* base;
    const std::vector<Accumulator>& flow;
    const SeccompData& input;
    std::size_t claims = 0;
    std::size_t wrong = 0;
    void at(const Insn* pc, const Machine<Concrete>& machine) {
      const Accumulator& a = flow[static_cast<std::size_t>(pc - base)];
      if (a.kind == Accumulator::Kind::kUnreached) ++wrong;
      if (a.kind != Accumulator::Kind::kWord) return;
      ++claims;
      if (machine.a != (input.words[a.word] & a.mask)) ++wrong;
    }
    void outcome(const Insn*, bool) {}
  };
  Random random(4);
  std::size_t claims = 0;
  for (int i = 0; i < 2000; ++i) {
    const Program program = random_program(random, random.between(2, 50));
    const auto flow = accumulator_flow(program);
    for (const SeccompData& input : random_inputs(random, program, 20)) {
      Witness witness{program.data(), flow, input};
      run_observed(program, input, witness);
      ASSERT_EQ(witness.wrong, 0u) << asm_text(program);
      claims += witness.claims;
    }
  }
  EXPECT_GT(claims, 10000u);
}

}  // namespace
}  // namespace secequiv::bpf_flow_test
