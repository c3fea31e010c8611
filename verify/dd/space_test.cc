#include "verify/dd/space.h"

#include <gtest/gtest.h>

#include <array>

#include "harness/base/random.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/compare/pair.h"
#include "harness/generate/random_program.h"

namespace secequiv::dd::space_test {
namespace {

constexpr Limits kSmall{.nodes = 100'000, .steps = 500'000};

TEST(Space, FunctionsMatchTheInterpreter) {
  Random random(41);
  int decided = 0;
  for (int i = 0; i < of_cases(3000); ++i) {
    const Program program = random_program(random, random.between(1, 40));
    const ProgramView views[] = {program};
    for (const Sameness sameness : {Sameness::kRaw, Sameness::kBehaviour}) {
      Space space(views, kSmall);
      const Decisions decisions = space.decisions(program, sameness);
      if (space.exhausted()) continue;
      ++decided;
      for (const SeccompData& input : random_inputs(random, program, 20))
        ASSERT_EQ(space.evaluate(decisions, input), normalize(run(program, input), sameness))
            << asm_text(program) << describe(input);
    }
  }
  EXPECT_GE(decided, of_cases(5800));
}

// Runs every pair of instructions on two unknown words, for all inputs in which three bits of each
// word vary.
TEST(Space, EveryPairOfInstructionsMatchesTheInterpreter) {
  std::vector<Insn> alphabet;
  for (const InsnInfo& info : insn_table()) {
    if (!info.seccomp || is_ret(Insn{info.code, 0, 0, 0})) continue;
    const Insn in{info.code, 0, 0, 0};
    for (const std::uint32_t k : {0u, 1u, 5u, 0xfffffffdu}) {
      if (in.code == kLdWAbs) {
        alphabet.push_back({in.code, 0, 0, k % 2 == 0 ? 0u : 16u});
      } else if (is_conditional(in)) {
        alphabet.push_back({in.code, 1, 0, k});
        alphabet.push_back({in.code, 0, 1, k});
      } else if (in.code == kJa) {
        alphabet.push_back({in.code, 0, 0, k % 2});
      } else {
        alphabet.push_back({in.code, 0, 0, k});
      }
    }
  }
  int legal = 0;
  for (const Insn& first : alphabet) {
    for (const Insn& second : alphabet) {
      const Program program = {
          {kLdWAbs, 0, 0, 16}, {kSt, 0, 0, 0}, {kStx, 0, 0, 1}, {kStx, 0, 0, 5},  {kTax, 0, 0, 0},
          {kLdWAbs, 0, 0, 0},  first,          second,          {kRetA, 0, 0, 0}, {kRetK, 0, 0, 9}};
      if (refusal_of(program) || ++legal % kShare != 0) continue;
      const ProgramView views[] = {program};
      // Products of two words may exceed the limits.
      Space space(views, {.nodes = 20'000, .steps = 8000});
      const Decisions decisions = space.decisions(program, Sameness::kRaw);
      if (space.exhausted()) continue;
      SeccompData data;
      for (data.words[0] = 0; data.words[0] < 8; ++data.words[0])
        for (data.words[4] = 0; data.words[4] < 8; ++data.words[4])
          ASSERT_EQ(space.evaluate(decisions, data), run(program, data))
              << asm_text(program) << describe(data);
    }
  }
  EXPECT_GE(legal, 10'000);
}

// The program tests a word, then another word, then the first word again. The first test may decide
// the last. All combinations of conditions and nearby bounds occur.
TEST(Space, EarlierTestsOfAWordDecideLaterOnes) {
  constexpr std::array kBounds = {0u, 1u, 2u, 4u, 7u, 8u, 0x80u, 0x7fffffffu, 0x80000000u, ~0u};
  constexpr std::array kTests = {kJeqK, kJgtK, kJgeK, kJsetK};
  SeccompData data;
  for (const auto& [word, other] : {std::pair(4u, 6u), std::pair(6u, 4u)}) {
    for (const std::uint16_t first : kTests) {
      for (const std::uint16_t second : kTests) {
        for (const std::uint32_t low : kBounds) {
          for (const std::uint32_t high : kBounds) {
            const Program program = {{kLdWAbs, 0, 0, word * 4},
                                     {first, 0, 5, low},
                                     {kLdWAbs, 0, 0, other * 4},
                                     {kJeqK, 0, 8, 1},
                                     {kLdWAbs, 0, 0, word * 4},
                                     {second, 7, 8, high},
                                     {kRetK, 0, 0, 9},
                                     {kLdWAbs, 0, 0, other * 4},
                                     {kJeqK, 0, 3, 1},
                                     {kLdWAbs, 0, 0, word * 4},
                                     {second, 4, 5, high},
                                     {kRetK, 0, 0, 9},
                                     {kRetK, 0, 0, 1},
                                     {kRetK, 0, 0, 2},
                                     {kRetK, 0, 0, 3},
                                     {kRetK, 0, 0, 4},
                                     {kRetK, 0, 0, 5}};
            ASSERT_FALSE(refusal_of(program)) << asm_text(program);
            const ProgramView views[] = {program};
            Space space(views, kSmall);
            const Decisions decisions = space.decisions(program, Sameness::kRaw);
            ASSERT_FALSE(space.exhausted());
            for (const std::uint32_t bound : {low, high}) {
              for (const std::uint32_t near : {bound - 1, bound, bound + 1}) {
                for (data.words[other] = 0; data.words[other] < 2; ++data.words[other]) {
                  data.words[word] = near;
                  ASSERT_EQ(space.evaluate(decisions, data), run(program, data))
                      << asm_text(program) << describe(data);
                }
              }
            }
          }
        }
      }
    }
    data = {};
  }
}

// Moves values only between A, X and two scratch words, so that it matters what each path leaves
// there.
Program program_of_moves(Random& random) {
  constexpr std::array<std::uint16_t, 10> kMoves = {kLdImm, kLdxImm, kSt,     kSt,  kStx,
                                                    kStx,   kLdMem,  kLdxMem, kTax, kTxa};
  Program out = {{kSt, 0, 0, 0}, {kStx, 0, 0, 1}};
  const auto moves = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t code = random.pick(kMoves);
      const bool value = code == kLdImm || code == kLdxImm;
      const auto k = static_cast<std::uint32_t>(random.below(value ? 4 : 2));
      out.push_back({code, 0, 0, code == kTax || code == kTxa ? 0 : k});
    }
  };
  // Two or three tests follow. The branches of each meet again.
  for (std::size_t tests = random.between(2, 3); tests != 0; --tests) {
    // The test needs A, so A is saved where the branches may change it.
    out.push_back({kSt, 0, 0, static_cast<std::uint32_t>(random.below(2))});
    out.push_back({kLdWAbs, 0, 0, random.one_in(2) ? 16u : 24u});
    const std::size_t test = out.size();
    out.push_back({kJeqK, 0, 0, static_cast<std::uint32_t>(random.below(2))});
    moves(random.between(0, 4));
    const std::size_t jump = out.size();
    out.push_back({kJa, 0, 0, 0});
    moves(random.between(0, 4));
    out[test].jf = static_cast<std::uint8_t>(jump - test);
    out[jump].k = static_cast<std::uint32_t>(out.size() - jump - 1);
    if (random.one_in(2)) moves(1);
  }
  if (random.one_in(3)) out.push_back({kTxa, 0, 0, 0});
  if (random.one_in(2)) out.push_back({kLdMem, 0, 0, static_cast<std::uint32_t>(random.below(2))});
  out.push_back({kRetA, 0, 0, 0});
  return out;
}

TEST(Space, JoinsRegistersAndMemory) {
  Random random(43);
  for (int i = 0; i < 3000; ++i) {
    const Program program = program_of_moves(random);
    ASSERT_FALSE(refusal_of(program)) << asm_text(program);
    const ProgramView views[] = {program};
    Space space(views, kSmall);
    const Decisions decisions = space.decisions(program, Sameness::kRaw);
    ASSERT_FALSE(space.exhausted());
    SeccompData data;
    for (data.words[4] = 0; data.words[4] < 3; ++data.words[4])
      for (data.words[6] = 0; data.words[6] < 3; ++data.words[6])
        ASSERT_EQ(space.evaluate(decisions, data), run(program, data))
            << asm_text(program) << describe(data);
  }
}

TEST(Space, VariableOrderInterleavesComparedWords) {
  // If the bits of both words alternate, x == y needs three nodes for each bit. If one word follows
  // the other, it needs 2^32 nodes.
  const Program program = assemble("ld [16]\ntax\nld [40]\njeq x, y, n\ny: ret #1\nn: ret #2\n");
  const ProgramView views[] = {program};
  Space space(views, {.nodes = 2000});
  EXPECT_FALSE(space.order().whole(4));
  EXPECT_FALSE(space.order().whole(10));
  EXPECT_TRUE(space.order().whole(5));
  const Decisions decisions = space.decisions(program, Sameness::kRaw);
  ASSERT_FALSE(space.exhausted());
  SeccompData data;
  data.words[4] = data.words[10] = 0xdeadbeef;
  EXPECT_EQ(space.evaluate(decisions, data), 1u);
  data.words[4] ^= 1;
  EXPECT_EQ(space.evaluate(decisions, data), 2u);
}

TEST(Space, EveryBitHasItsOwnLevel) {
  Random random(42);
  for (int i = 0; i < 50; ++i) {
    const Program program = random_program(random, 60);
    const ProgramView views[] = {program};
    const Order order = Order::for_programs(views);
    for (std::uint32_t level = 0; level < 512; ++level)
      ASSERT_EQ(order.level(order.word(level), order.bit(level)), level);
  }
}

// Returns the most permissive result of the filters; of equally permissive ones, the first.
std::uint32_t loosest_result(std::span<const ProgramView> filters, const SeccompData& input) {
  std::uint32_t out = run(filters[0], input);
  for (const ProgramView filter : filters) {
    const std::uint32_t value = run(filter, input);
    if (precedence(behaviour_of(value)) > precedence(behaviour_of(out))) out = value;
  }
  return out;
}

TEST(Space, StacksMatchTheKernelsRule) {
  Random random(43);
  constexpr std::uint32_t kActions[] = {0x80000000, 0,          0x00030005, 0x00050001,
                                        0x0005ffff, 0x7fc00000, 0x7ff00003, 0x7ffc0000,
                                        0x7fff0000, 0x7fff0001, 0x00070000};
  const auto with_actions = [&](Program program) {
    for (Insn& in : program)
      if (in.code == kRetK) in.k = kActions[random.below(std::size(kActions))];
    return program;
  };
  int decided = 0;
  for (int i = 0; i < 600; ++i) {
    std::vector<Program> programs;
    for (std::size_t count = random.between(1, 3); count > 0; --count)
      programs.push_back(with_actions(random_program(random, random.between(1, 12))));
    const std::vector<ProgramView> views(programs.begin(), programs.end());
    Space space(views, kSmall);
    const std::vector<Decisions> filters = space.each(views);
    const Decisions stack = space.stack(filters);
    const Decisions loosest = space.loosest(filters);
    const Decisions normal = space.normalized(stack, Sameness::kBehaviour);
    if (space.exhausted()) continue;
    ++decided;
    for (const Program& program : programs)
      for (const SeccompData& input : random_inputs(random, program, 10)) {
        const std::uint32_t expected = run_stack(views, input);
        ASSERT_EQ(space.evaluate(stack, input), expected);
        ASSERT_EQ(space.evaluate(loosest, input), loosest_result(views, input));
        ASSERT_EQ(space.evaluate(normal, input), behaviour_of(expected));
      }
  }
  EXPECT_GE(decided, 570);
}

TEST(Space, SmallestInputIsInTheSet) {
  const Program program = assemble(
      "ld [24]\njeq #0xffffffff, y, n\nn: ld [16]\njeq #1, m, r\nm: ld [20]\njeq #1, y, r\n"
      "y: ret #1\nr: ret #0\n");
  const Program other = assemble("ret #0\n");
  const ProgramView views[] = {program, other};
  Space space(views, {});
  const NodeId differing = space.differing(space.decisions(program, Sameness::kRaw),
                                           space.decisions(other, Sameness::kRaw));
  const auto data = space.smallest(differing);
  ASSERT_TRUE(data);
  SeccompData expected;
  expected.words[6] = 0xffffffff;  // one non-zero word is better than two
  EXPECT_EQ(*data, expected);
}

}  // namespace
}  // namespace secequiv::dd::space_test
