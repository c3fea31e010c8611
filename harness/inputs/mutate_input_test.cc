// Tests that mutated inputs reach code that only certain values reach.
#include "harness/inputs/mutate_input.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"

namespace secequiv::inputs_mutate_input_test {
namespace {

// Counts the runs in which `program` returns 1, among 20000. Each input mutates the previous one,
// and every 16th input mutates zeros.
int found(const InputMutator& mutator, ProgramView program, unsigned seed) {
  Random random(seed);
  int out = 0;
  SeccompData data;
  for (int i = 0; i < 20000; ++i) {
    if (i % 16 == 0) data = {};
    mutator.mutate(data, random);
    out += run(program, data) == 1 ? 1 : 0;
  }
  return out;
}

const char* const kDeep =
    "ld [4]\njeq #0xc000003e, arch, bad\narch: ld [0]\njeq #257, number, bad\n"
    "number: ld [36]\njgt #0x12345, high, bad\nhigh: ld [32]\nand #0xf0f0\njeq #0x5050, low, bad\n"
    "low: ld [40]\njset #0x00800000, good, bad\ngood: ret #1\nbad: ret #0\n";

TEST(InputMutator, FollowsPathsThroughAProgram) {
  const Program program = assemble(kDeep);
  EXPECT_GT(found(InputMutator({program}), program, 7), 100);
}

TEST(InputMutator, FollowsPathsThroughTheOtherProgramToo) {
  const Program program = assemble(kDeep);
  const Program other = assemble("ret #0");
  EXPECT_GT(found(InputMutator({other, program}), program, 7), 100);
  EXPECT_EQ(found(InputMutator({other}), program, 7), 0);
}

TEST(InputMutator, MakesTheSameChangesForTheSameSeed) {
  const Program program = assemble(kDeep);
  const InputMutator mutator({program});
  Random first(3);
  Random second(3);
  SeccompData a{};
  SeccompData b{};
  for (int i = 0; i < 1000; ++i) {
    mutator.mutate(a, first);
    mutator.mutate(b, second);
    ASSERT_EQ(a, b);
  }
}

// The program does not contain this constant. After optimization, a rule's value may be missing in
// the same way.
TEST(InputMutator, UsesGivenValues) {
  const Program program =
      assemble("ld [24]\nadd #1\njeq #0x12345679, yes, no\nyes: ret #1\nno: ret #0\n");
  InputMutator mutator({program});
  EXPECT_EQ(found(mutator, program, 7), 0);
  SeccompData known{};
  known.words[6] = 0x12345678;
  mutator.add_values(std::vector<SeccompData>{known});
  EXPECT_GT(found(mutator, program, 7), 100);
}

TEST(InputMutator, VaryChangesFewWords) {
  const Program program = assemble(kDeep);
  const InputMutator mutator({program});
  Random random(5);
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    SeccompData data;
    for (std::uint32_t word = 0; word < 16; ++word) data.words[word] = 1000 + word;
    const SeccompData before = data;
    mutator.vary(data, random);
    int changed = 0;
    for (std::size_t word = 0; word < 16; ++word)
      changed += data.words[word] != before.words[word] ? 1 : 0;
    EXPECT_LE(changed, 3);
    same += changed == 0 ? 1 : 0;
  }
  EXPECT_LT(same, 200);  // a word may have no constants, and a change may be undone
}

}  // namespace
}  // namespace secequiv::inputs_mutate_input_test
