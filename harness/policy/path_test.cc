// Tests that the results that a path stores equal those of execution.
#include "harness/policy/path.h"

#include <gtest/gtest.h>

#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::detail::path_test {
namespace {

struct States {
  std::vector<std::pair<std::size_t, Machine<Concrete>>> at_each;
  const Insn* base;

  void at(const Insn* pc, const Machine<Concrete>& machine) {
    at_each.emplace_back(static_cast<std::size_t>(pc - base), machine);
  }
  void outcome(const Insn*, bool) {}
};

TEST(Path, CachedSuffixGivesTheSameResultAsExecution) {
  Random random(44);
  std::size_t compared = 0;
  for (int i = 0; i < 200; ++i) {
    const Program program = random_program(random, random.between(2, 50));
    Path path(program);
    for (const SeccompData& input : random_inputs(random, program, 5)) {
      path.follow(input);
      States states{{}, program.data()};
      Machine<Concrete> machine{};
      EXPECT_EQ(path.result(), resume(program, 0, machine, input, states));
      ASSERT_EQ(path.visits().size(), states.at_each.size());
      for (std::size_t step = 0; step < path.visits().size(); ++step) {
        const Visit visit = path.visits()[step];
        const auto& [pc, state] = states.at_each[step];
        ASSERT_EQ(visit.pc, pc);
        if (visit.origin.word != kNoWord)
          EXPECT_EQ(visit.a, input.words[visit.origin.word] & visit.origin.mask)
              << asm_text(program);
        for (int j = 0; j < 4 && pc + 1 < program.size(); ++j) {
          const std::size_t to = random.between(pc + 1, program.size() - 1);
          const std::uint32_t a = random.one_in(2) ? state.a : input.words[random.below(16)];
          Machine<Concrete> other = state;
          other.a = a;
          Silent silent;
          EXPECT_EQ(path.result_from(to, a, visit), resume(program, to, other, input, silent))
              << "from " << pc << " to " << to << "\n"
              << asm_text(program);
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 10000u);
}

// With equal registers, results may still differ if M[] differs.
TEST(Path, MemoryIsPartOfTheState) {
  const Program program = assemble("ld [16]\nst M[0]\nld [20]\nst M[0]\nld [24]\nld M[0]\nret a");
  Path path(program);
  SeccompData data;
  data.words[4] = 1;
  data.words[5] = 2;
  path.follow(data);
  EXPECT_EQ(path.result(), 2u);
  EXPECT_EQ(path.result_from(5, 0, *path.find(3)), 1u);
  EXPECT_EQ(path.result_from(5, 0, *path.find(4)), 2u);
}

TEST(Path, TracksTheOriginOfA) {
  const Program program = assemble(
      "ld [20]\nand #0xff0\ntax\nld [0]\njeq #3, three\ntxa\njeq x, three\nthree: neg\nret a");
  Path path(program);
  path.follow({});
  const auto origin = [&](std::size_t pc) {
    const Visit* visit = path.find(pc);
    return visit == nullptr ? std::pair(99u, 0u)
                            : std::pair(visit->origin.word, visit->origin.mask);
  };
  EXPECT_EQ(origin(0).first, kNoWord);
  EXPECT_EQ(origin(1), std::pair(5u, 0xffffffffu));
  EXPECT_EQ(origin(2), std::pair(5u, 0xff0u));
  EXPECT_EQ(origin(4), std::pair(0u, 0xffffffffu));
  EXPECT_EQ(origin(6), std::pair(5u, 0xff0u));
  EXPECT_EQ(origin(8).first, kNoWord);
  const auto others = path.visits_from(4, 3, {0xffffffff, 7}, *path.find(4));
  ASSERT_EQ(others.size(), 3u);
  EXPECT_EQ(others[0].origin.word, 7u);
  EXPECT_TRUE(others[0].outcome);
  EXPECT_EQ(others[1].pc, 7u);
}

}  // namespace
}  // namespace secequiv::detail::path_test
