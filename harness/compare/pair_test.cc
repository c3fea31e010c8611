#include "harness/compare/pair.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/compare/direction.h"
#include "harness/generate/random_program.h"
#include "harness/policy/testing.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"

namespace secequiv::compare_pair_test {
namespace {

const char* const kBefore =
    "ld [0]\njeq #1, check, no\ncheck: ld [20]\njeq #5, low, no\nlow: ld [16]\njeq #7, yes, "
    "no\nyes: ret #0x7fff0000\nno: ret #0x50001";
// This wrong optimizer forgets the test of the high half.
const char* const kAfter =
    "ld [0]\njeq #1, low, no\nlow: ld [16]\njeq #7, yes, no\nyes: ret #0x7fff0000\nno: ret "
    "#0x50001";

Pair planted(Sameness sameness = Sameness::kRaw) {
  return {assemble(kBefore), assemble(kAfter), sameness};
}

TEST(Pair, ReplayReturnsAWitnessForADifference) {
  const Pair pair = planted();
  EXPECT_FALSE(replay(pair, call(Arch::kX86_64, 1, {0x500000007})));
  EXPECT_FALSE(replay(pair, call(Arch::kX86_64, 2, {7})));
  const SeccompData different = call(Arch::kX86_64, 1, {7});
  const auto witness = replay(pair, different);
  ASSERT_TRUE(witness);
  EXPECT_EQ(witness->data, different);
  EXPECT_EQ(witness->before, 0x50001u);
  EXPECT_EQ(witness->after, 0x7fff0000u);
}

TEST(Pair, BehaviourIgnoresUnobservableData) {
  const Pair raw{assemble("ret #0x7fff0000"), assemble("ret #0x7fff0001"), Sameness::kRaw};
  const Pair behaviour{raw.before, raw.after, Sameness::kBehaviour};
  EXPECT_TRUE(replay(raw, {}));
  EXPECT_FALSE(replay(behaviour, {}));
  const Pair errnos{assemble("ret #0x50001"), assemble("ret #0x50002"), Sameness::kBehaviour};
  EXPECT_TRUE(replay(errnos, {}));
}

TEST(Pair, RunStopsAtTheFirstDifference) {
  const Pair pair = planted();
  const std::vector<SeccompData> inputs = {
      call(Arch::kX86_64, 0), call(Arch::kX86_64, 1, {0x500000007}),
      call(Arch::kX86_64, 1, {0x300000007}), call(Arch::kX86_64, 1, {7}),
      call(Arch::kX86_64, 1, {8})};
  CoverageMap coverage(pair.after);
  const PairRun run = run_pair(pair, inputs, coverage);
  EXPECT_EQ(run.evaluations, 3u);
  ASSERT_TRUE(run.witness);
  EXPECT_EQ(run.witness->data, inputs[2]);
  EXPECT_EQ(run.witness->before, 0x50001u);
  EXPECT_EQ(run.witness->after, 0x7fff0000u);
}

TEST(Pair, RunWithoutDifferenceRecordsCoverageOfTheSecondProgram) {
  const Pair pair{assemble(kBefore), assemble(kBefore), Sameness::kRaw};
  const std::vector<SeccompData> inputs = {call(Arch::kX86_64, 0),
                                           call(Arch::kX86_64, 1, {0x500000007})};
  CoverageMap coverage(pair.after);
  const PairRun run = run_pair(pair, inputs, coverage);
  EXPECT_EQ(run.evaluations, 2u);
  EXPECT_FALSE(run.witness);
  EXPECT_EQ(coverage.uncovered(), (std::vector<Obligation>{{3, Obligation::Kind::kFalse},
                                                           {5, Obligation::Kind::kFalse}}));
  CoverageMap nothing(pair.after);
  EXPECT_EQ(run_pair(pair, {}, nothing).evaluations, 0u);
}

// Checks that no word and no bit can be cleared without losing the difference.
void expect_irreducible(const Pair& pair, const Witness& witness) {
  ASSERT_TRUE(replay(pair, witness.data));
  for (std::size_t word = 0; word < 16; ++word) {
    if (word == kArchWord) continue;
    for (int bit = 0; bit < 32; ++bit) {
      SeccompData smaller = witness.data;
      if ((smaller.words[word] >> bit & 1) == 0) continue;
      smaller.words[word] &= ~(1u << bit);
      EXPECT_FALSE(replay(pair, smaller))
          << "word " << word << ", bit " << bit << " can be cleared";
    }
  }
}

TEST(Minimize, ClearsWordsThatDoNotMatter) {
  const Pair pair = planted();
  SeccompData noisy = call(Arch::kX86_64, 1, {0xdeadbeef00000007, 1, 2, 3, 4, 5}, 0x401000);
  const auto found = replay(pair, noisy);
  ASSERT_TRUE(found);
  const Witness small = minimize(pair, *found);
  EXPECT_EQ(small.data, call(Arch::kX86_64, 1, {7}));
  EXPECT_EQ(small.before, 0x50001u);
  EXPECT_EQ(small.after, 0x7fff0000u);
  expect_irreducible(pair, small);
}

// One bit can be cleared only after a second one, and the second only after a third.
TEST(Minimize, ContinuesUntilNoBitCanBeCleared) {
  const char* const chain =
      "ld [60]\njeq #1, z, b\nz: ld [16]\njeq #1, yes, c\nc: ld [8]\njeq #0, yes, no\n"
      "b: ld [16]\njeq #0, d, no\nd: ld [8]\njeq #0, yes, no\nyes: ret #2\nno: ret #1";
  const Pair pair{assemble("ret #1"), assemble(chain), Sameness::kRaw};
  SeccompData data;
  data.words[15] = data.words[4] = data.words[2] = 1;
  const auto found = replay(pair, data);
  ASSERT_TRUE(found);
  SeccompData expected;
  expected.set_arch(AUDIT_ARCH_X86_64);
  EXPECT_EQ(minimize(pair, *found).data, expected)
      << "an architecture without effect is replaced by a known one";
}

// The architecture is kept, because with another one the witness would show a different problem.
TEST(Minimize, KeepsTheArchitecture) {
  const Pair pair{assemble("ret #1"), assemble("ret #2"), Sameness::kRaw};
  SeccompData data;
  data.words.fill(0xffffffff);
  data.set_arch(AUDIT_ARCH_S390X);
  const Witness small = minimize(pair, {data, 1, 2});
  SeccompData expected;
  expected.set_arch(AUDIT_ARCH_S390X);
  EXPECT_EQ(small.data, expected);
}

TEST(Minimize, RandomWitnessesBecomeIrreducible) {
  Random random(91);
  std::size_t minimized = 0;
  for (int i = 0; i < 5000; ++i) {
    Pair pair{random_program(random, random.between(5, 40)),
              {},
              random.one_in(2) ? Sameness::kRaw : Sameness::kBehaviour};
    pair.after = pair.before;
    Insn& in = pair.after[random.below(pair.after.size())];
    if (in.code == kRetK || in.code == kJeqK || in.code == kLdImm) in.k ^= 1u << random.below(32);
    if (is_conditional(in)) std::swap(in.jt, in.jf);
    for (const SeccompData& input : random_inputs(random, pair.before, 20)) {
      const auto found = replay(pair, input);
      if (!found) continue;
      const Witness small = minimize(pair, *found);
      EXPECT_EQ(small.before, run(pair.before, small.data))
          << "the result must be a replayed witness";
      EXPECT_EQ(small.after, run(pair.after, small.data));
      EXPECT_EQ(small.data, minimize(pair, *found).data) << "minimize must be deterministic";
      if (small.data.arch() != input.arch()) {
        EXPECT_FALSE(arch_from_data(input.arch(), small.data.nr()));
        EXPECT_TRUE(small.data.arch() == AUDIT_ARCH_X86_64 || small.data.arch() == 0);
      }
      expect_irreducible(pair, small);
      for (std::size_t word = 0; word < 16; ++word)
        if (word != kArchWord) EXPECT_LE(small.data.words[word], input.words[word]);
      ++minimized;
      break;
    }
  }
  EXPECT_GT(minimized, 100u);
}

TEST(Trace, RecordsEveryStepWithItsRegisters) {
  const Program program = assemble("ld [0]\ntax\njeq #6, yes, no\nyes: div x\nret a\nno: ret #9");
  const Trace taken = trace(program, {6});
  EXPECT_EQ(taken.result, 1u);
  ASSERT_EQ(taken.steps.size(), 5u);
  const struct {
    std::size_t pc;
    std::uint32_t a;
    std::uint32_t x;
    std::optional<bool> outcome;
  } expected[] = {{0, 0, 0, {}}, {1, 6, 0, {}}, {2, 6, 6, true}, {3, 6, 6, false}, {4, 1, 6, {}}};
  for (std::size_t i = 0; i < taken.steps.size(); ++i) {
    EXPECT_EQ(taken.steps[i].pc, expected[i].pc) << i;
    EXPECT_EQ(taken.steps[i].a, expected[i].a) << i;
    EXPECT_EQ(taken.steps[i].x, expected[i].x) << i;
    EXPECT_EQ(taken.steps[i].outcome, expected[i].outcome) << i;
  }
  const Trace other = trace(program, {5});
  EXPECT_EQ(other.result, 9u);
  EXPECT_EQ(other.steps.back().pc, 5u);
  EXPECT_EQ(other.steps[2].outcome, false);
}

TEST(DirectionOf, ACallThatWasLoggedRanBefore) {
  Witness witness;
  witness.data.set_nr(1);
  witness.data.set_arch(AUDIT_ARCH_X86_64);
  witness.before = SECCOMP_RET_LOG;
  witness.after = SECCOMP_RET_ALLOW;
  const Direction logged = direction_of({&witness, 1});
  EXPECT_TRUE(logged.allowed.calls.empty());
  EXPECT_EQ(logged.looser.calls.size(), 1U);
  witness.before = SECCOMP_RET_ERRNO;
  const Direction refused = direction_of({&witness, 1});
  EXPECT_EQ(refused.allowed.calls.size(), 1U);
  EXPECT_TRUE(refused.looser.calls.empty());
}

}  // namespace
}  // namespace secequiv::compare_pair_test
