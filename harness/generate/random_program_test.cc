#include "harness/generate/random_program.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/bpf/flow.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"

namespace secequiv::generate_random_program_test {
namespace {

TEST(RandomProgram, ProgramsAreLegalAndUseEveryInstruction) {
  Random random(2);
  std::set<std::uint16_t> codes;
  std::size_t dead = 0;
  std::size_t far = 0;
  std::size_t chains = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t length = i % 50 == 0 ? random.between(300, 900) : random.between(1, 60);
    const Program program = random_program(random, length);
    ASSERT_EQ(program.size(), length);
    const auto refusal = refusal_of(program);
    ASSERT_FALSE(refusal) << describe(*refusal, program) << "\n" << asm_text(program);
    const auto reached = reachable(program);
    for (std::size_t pc = 0; pc < length; ++pc) {
      dead += reached[pc] ? 0 : 1;
      if (reached[pc]) codes.insert(program[pc].code);
      if (program[pc].code != kJa) continue;
      far += program[pc].k > 255 ? 1 : 0;
      chains += program[jump_target(pc, program[pc], true)].code == kJa ? 1 : 0;
    }
  }
  for (const InsnInfo& info : insn_table())
    EXPECT_EQ(codes.contains(info.code), info.seccomp) << info.name;
  EXPECT_GT(dead, 1000u);
  EXPECT_GT(far, 10u);
  EXPECT_GT(chains, 100u);
}

TEST(RandomProgram, TheSameSeedGivesTheSameProgram) {
  Random first(3);
  Random second(3);
  EXPECT_EQ(random_program(first, 200), random_program(second, 200));
  EXPECT_EQ(random_garbage(first, 200, false), random_garbage(second, 200, false));
  const Program program = random_program(first, 30);
  EXPECT_EQ(program, random_program(second, 30));
  EXPECT_EQ(random_inputs(first, program, 10), random_inputs(second, program, 10));
  EXPECT_NE(random_program(first, 200), random_program(first, 200));
}

// The sequence must stay the same everywhere, because bug reports quote seeds.
TEST(Random, SequenceIsFixed) {
  Random random(1);
  EXPECT_EQ(random.next(), 10451216379200822465u);
  EXPECT_EQ(random.below(1000), 745u);
  EXPECT_EQ(random.word(), 4170425070u);
}

}  // namespace
}  // namespace secequiv::generate_random_program_test
