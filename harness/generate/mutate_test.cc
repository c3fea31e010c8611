#include "harness/generate/mutate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "harness/bpf/interpreter.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"

namespace secequiv::generate_mutate_test {
namespace {

TEST(MutateProgram, MutantsAreLegalAndEveryPartChanges) {
  Random random(310);
  std::map<std::string_view, int> seen;
  constexpr int kRuns = 5000;
  for (int i = 0; i < kRuns; ++i) {
    const Program program = generate_program(random);
    const Program donor = generate_program(random);
    const Program mutant = mutate_program(random, program, i % 2 == 0 ? donor : Program{});
    const auto refusal = refusal_of(mutant);
    ASSERT_FALSE(refusal) << describe(*refusal, mutant) << "\n"
                          << asm_text(program) << "\n"
                          << asm_text(mutant);
    seen["same"] += mutant == program ? 1 : 0;
    seen["longer"] += mutant.size() > program.size() ? 1 : 0;
    seen["much longer"] += mutant.size() > program.size() + 4 ? 1 : 0;
    seen["shorter"] += mutant.size() < program.size() ? 1 : 0;
    if (mutant.size() != program.size()) continue;
    for (std::size_t pc = 0; pc < program.size(); ++pc) {
      const Insn& a = program[pc];
      const Insn& b = mutant[pc];
      seen["code"] += a.code != b.code ? 1 : 0;
      if (a.code != b.code) continue;
      seen["target"] += a.jt != b.jt || a.jf != b.jf ? 1 : 0;
      if (a.k == b.k) continue;
      seen["word"] += a.code == kLdWAbs ? 1 : 0;
      seen["return"] += a.code == kRetK ? 1 : 0;
      seen["constant"] += is_conditional(a) ? 1 : 0;
    }
    for (const SeccompData& input : random_inputs(random, program, 4)) {
      if (run(program, input) == run(mutant, input)) continue;
      ++seen["other results"];
      break;
    }
  }
  EXPECT_LT(seen["same"], kRuns / 100);
  for (const char* what : {"longer", "much longer", "shorter", "code", "target", "word", "return",
                           "constant", "other results"})
    EXPECT_GT(seen[what], kRuns / 50) << what;
}

TEST(MutateProgram, TheSameSeedGivesTheSameMutant) {
  Random random(311);
  const Program program = generate_program(random, {100});
  Random first(7);
  Random second(7);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(mutate_program(first, program, program), mutate_program(second, program, program));
}

TEST(MutateProgram, TakesInstructionsFromTheDonor) {
  Random random(314);
  const Program program = generate_program(random, {30});
  const Program donor = assemble("ld [60]\njeq #0xdecade, m, n\nm: st M[5]\nn: ret #0x7fff1234\n");
  const auto has = [](const Program& p, std::uint16_t code, std::uint32_t k) {
    return std::ranges::any_of(p, [&](const Insn& in) { return in.code == code && in.k == k; });
  };
  int constants = 0;
  int returns = 0;
  for (int i = 0; i < 1000; ++i) {
    const Program mutant = mutate_program(random, program, donor);
    constants += has(mutant, kJeqK, 0xdecade) ? 1 : 0;
    returns += has(mutant, kRetK, 0x7fff1234) ? 1 : 0;
  }
  EXPECT_GT(constants, 20);
  EXPECT_GT(returns, 20);
}

// A seed of 100 entries leads to lists that are long enough for bugs in long jumps.
TEST(MutateProgram, ContinuesLists) {
  std::string near = "ld [0]\n";
  std::string far = near;
  for (int i = 0; i < 100; ++i) {
    near += "jne #" + std::to_string(3 * i) + ", n" + std::to_string(i) + "\nret #7\nn" +
            std::to_string(i) + ":\n";
    far += "jeq #" + std::to_string(3 * i) + ", y, n" + std::to_string(i) + "\nn" +
           std::to_string(i) + ":\n";
  }
  for (const Program& program :
       {assemble(near + "ret #0\n"), assemble(far + "ret #0\ny: ret #7\n")}) {
    Random random(315);
    std::size_t continued = 0;
    for (int i = 0; i < 2000; ++i) {
      const Program mutant = mutate_program(random, program);
      ASSERT_FALSE(refusal_of(mutant));
      // All new entries have the distance of the old ones, and the same decision.
      bool same = true;
      for (const std::uint32_t nr : {300u, 600u, 750u}) {
        SeccompData data;
        data.set_nr(nr);
        same = same && run(mutant, data) == 7;
        data.set_nr(nr + 1);
        same = same && run(mutant, data) == 0;
      }
      continued += same ? 1 : 0;
    }
    EXPECT_GT(continued, 2u);
  }
}

TEST(MutateProgram, SplicesPrograms) {
  Random random(316);
  const Program program = assemble("ld [0]\njeq #1, y, n\ny: ret #1\nn: ret #2\n");
  const Program donor = assemble("ldx #3\ntxa\nadd x\njset #4, y, n\ny: ret a\nn: ret #5\n");
  int spliced = 0;
  for (int i = 0; i < 1000; ++i) {
    const Program mutant = mutate_program(random, program, donor);
    spliced += mutant.front() == program.front() && mutant.back() == donor.back() ? 1 : 0;
  }
  EXPECT_GT(spliced, 50);
}

TEST(MutateProgram, MovesBlocks) {
  Random random(317);
  const Program program =
      assemble("ld [0]\nst M[0]\nld [4]\nst M[1]\nld M[0]\nldx M[1]\nadd x\nret a\n");
  const auto by_fields = [](const Insn& a, const Insn& b) {
    return std::tuple(a.code, a.k) < std::tuple(b.code, b.k);
  };
  Program sorted = program;
  std::ranges::sort(sorted, by_fields);
  std::set<std::string> orders;
  for (int i = 0; i < 2000; ++i) {
    Program mutant = mutate_program(random, program);
    const std::string text = asm_text(mutant);
    std::ranges::sort(mutant, by_fields);
    if (mutant == sorted) orders.insert(text);
  }
  EXPECT_GT(orders.size(), 5u);
}

// Mutates mutants, as a fuzzer does.
TEST(MutateProgram, MutatesMutants) {
  Random random(312);
  Program program = assemble("ret #0\n");
  std::size_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    program = mutate_program(random, program);
    ASSERT_FALSE(refusal_of(program));
    most = std::max(most, program.size());
  }
  EXPECT_GT(most, 20u);
}

TEST(MutateProgram, MutatesLongPrograms) {
  Random random(313);
  const Program program = random_program(random, 6000);
  for (int i = 0; i < 20; ++i) {
    const Program mutant = mutate_program(random, program);
    EXPECT_FALSE(refusal_of(mutant, LengthRule::kUnlimited));
  }
  const Program full = random_program(random, kMaxInsns);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(refusal_of(mutate_program(random, full)));
}

}  // namespace
}  // namespace secequiv::generate_mutate_test
