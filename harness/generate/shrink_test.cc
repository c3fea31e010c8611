#include "harness/generate/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "adapters/broken/planted_passes.h"
#include "harness/bpf/flow.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "harness/optimize/optimizer.h"

namespace secequiv::generate_shrink_test {
namespace {

using Predicate = std::function<bool(ProgramView)>;

// Shrinks, and checks the properties that every result must have.
Program shrunk(const Program& program, const Predicate& still) {
  std::size_t calls = 0;
  const auto asked = [&](ProgramView candidate) {
    ++calls;
    EXPECT_LE(candidate.size(), program.size());
    const auto refusal = refusal_of(candidate, LengthRule::kUnlimited);
    EXPECT_FALSE(refusal) << describe(*refusal, candidate) << "\n" << asm_text(candidate);
    return still(candidate);
  };
  const ShrunkProgram out = shrink(program, asked);
  EXPECT_EQ(out.calls, calls);
  EXPECT_EQ(out.end, ShrinkEnd::kMinimal) << calls << " calls\n" << asm_text(out.result);
  EXPECT_TRUE(still(out.result));
  // No further reduction may keep the predicate.
  Program smaller;
  const bool reducible = any_reduction(out.result, [&](const Program& candidate) {
    smaller = candidate;
    return still(candidate);
  });
  EXPECT_FALSE(reducible) << asm_text(out.result) << "reducible to\n" << asm_text(smaller);
  return out.result;
}

// Returns whether some path leads from a JSET on word 1 to a RET A.
bool jset_then_ret_a(ProgramView program) {
  const auto flow = accumulator_flow(program);
  const auto reached = reachable(program);
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!reached[pc] || program[pc].code != kJsetK || !flow[pc].is_word(1)) continue;
    const Program tail(program.begin() + static_cast<std::ptrdiff_t>(pc), program.end());
    const auto later = reachable(tail);
    for (std::size_t i = 0; i < tail.size(); ++i)
      if (later[i] && tail[i].code == kRetA) return true;
  }
  return false;
}

TEST(Shrink, FindsTheOnlySmallestProgram) {
  Random random(200);
  int tried = 0;
  for (int i = 0; i < 20'000 && tried < 20; ++i) {
    const Program program = random_program(random, random.between(10, 300));
    if (!jset_then_ret_a(program)) continue;
    ++tried;
    ASSERT_EQ(asm_text(shrunk(program, jset_then_ret_a)),
              asm_text(assemble("ld [4]\njset #0, l, l\nl: ret a\n")));
  }
  EXPECT_EQ(tried, 20);
}

TEST(Shrink, KeepsDifferentResultsForTwoInputs) {
  Random random(201);
  const SeccompData zeros{};
  SeccompData ones;
  ones.words.fill(0xffffffff);
  int differ = 0;
  for (int i = 0; i < 500; ++i) {
    const Program program = random_program(random, random.between(2, 120));
    const std::uint32_t value = run(program, zeros);
    if (run(program, ones) == value) continue;
    ++differ;
    EXPECT_EQ(shrunk(program, [&](ProgramView p) { return run(p, zeros) != run(p, ones); }),
              assemble("ld [0]\nret a\n"));
    // The program may return one of its constants.
    if (std::ranges::find(program, Insn{kRetK, 0, 0, value}) == program.end()) continue;
    EXPECT_LE(shrunk(program, [&](ProgramView p) { return run(p, zeros) == value; }).size(), 3u);
  }
  EXPECT_GT(differ, 10);
}

// The predicate needs only the distance, so the instructions that are jumped over become as simple
// as possible.
TEST(Shrink, KeepsTheInstructionsThatAFarJumpCrosses) {
  Random random(202);
  const auto far = [](ProgramView program) {
    const auto reached = reachable(program);
    for (std::size_t pc = 0; pc < program.size(); ++pc)
      if (reached[pc] && program[pc].code == kJa && program[pc].k > 255) return true;
    return false;
  };
  for (int tried = 0; tried < 3;) {
    const Program program = random_program(random, 700);
    if (!far(program)) continue;
    ++tried;
    Program smallest(258, Insn{kRetK, 0, 0, 0});
    smallest[0] = Insn{kJa, 0, 0, 256};
    EXPECT_EQ(asm_text(shrunk(program, far)), asm_text(smallest));
  }
}

TEST(Shrink, EqualNumbersStayEqual) {
  const Program program = assemble(
      "ld [60]\njeq #0x1234, k, l\nk: ld [16]\nst M[9]\nl: ld [60]\njset #0x1234, m, n\n"
      "m: ret #0x7fff0000\nn: ret #0\n");
  const auto twice = [](ProgramView p) {
    for (std::size_t i = 0; i < p.size(); ++i)
      for (std::size_t j = i + 1; j < p.size(); ++j)
        if (p[i].code == kJeqK && p[j].code == kJsetK && p[i].k == p[j].k && p[i].k > 0x1000)
          return true;
    return false;
  };
  EXPECT_EQ(asm_text(shrunk(program, twice)),
            asm_text(assemble("jeq #0x1004, l, l\nl: jset #0x1004, m, m\nm: ret #0\n")));
}

TEST(Shrink, ScratchWordsGetSmallNumbers) {
  const Program program = assemble(
      "ld [16]\nst M[15]\nldx #7\nstx M[3]\nld [0]\njeq #1, k, l\nk: ldx M[15]\ntxa\nret a\n"
      "l: ret #0\n");
  const SeccompData input{1, 0, 0, 0, 0x99};
  const auto through_scratch = [&](ProgramView p) {
    bool loads = false;
    for (const Insn& in : p) loads = loads || in.code == kLdxMem;
    return loads && run(p, input) == 0x99;
  };
  EXPECT_EQ(asm_text(shrunk(program, through_scratch)),
            asm_text(assemble("ld [16]\nst M[0]\nldx M[0]\nret a\n")));
}

// Inputs show each planted bug of the reference optimizer's bytecode passes.
class ShrinkPlantedPass : public testing::TestWithParam<broken::PlantedPass> {};

TEST_P(ShrinkPlantedPass, ShrinksToAFewInstructions) {
  const auto& pass = std::get<BytecodePass>(GetParam().run);
  // The same program gets the same inputs, so that the predicate is deterministic.
  const auto differs = [&](ProgramView program) {
    const Program after = pass(program);
    Random random(203);
    for (const SeccompData& input : random_inputs(random, program, 100))
      if (run(program, input) != run(after, input)) return true;
    return false;
  };
  Random random(204);
  const bool far = GetParam().pass == "thread-conditional-jumps";
  for (int found = 0, i = 0; found < 3 && i < 20'000; ++i) {
    const Program program = random_program(random, far ? 900 : random.between(10, 80));
    if (!differs(program)) continue;
    ++found;
    const Program small = shrunk(program, differs);
    EXPECT_LE(small.size(), far ? 262u : 8u) << GetParam().bug << "\n" << asm_text(small);
  }
}

INSTANTIATE_TEST_SUITE_P(Bytecode, ShrinkPlantedPass,
                         testing::ValuesIn(broken::planted_bytecode_passes()),
                         [](const auto& parameter) {
                           std::string name(parameter.param.pass);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Shrink, StopsAtTheLimitOfCalls) {
  Random random(205);
  for (const std::size_t limit : {0u, 1u, 2u, 12u}) {
    const Program program = random_program(random, 100);
    std::size_t calls = 0;
    const auto still = [&](ProgramView p) {
      ++calls;
      return p.size() > 3;
    };
    const ShrunkProgram out = shrink(program, still, {limit});
    EXPECT_EQ(out.end, ShrinkEnd::kCalls);
    EXPECT_EQ(calls, limit);
    EXPECT_EQ(out.calls, limit);
    EXPECT_GT(out.result.size(), 3u);
    EXPECT_LE(out.result.size(), 100u);
  }
}

TEST(Shrink, AnInputWithoutThePropertyIsReturnedUnchanged) {
  const Program program = assemble("ld [0]\nret a\n");
  const ShrunkProgram out = shrink(program, [](ProgramView) { return false; });
  EXPECT_EQ(out.result, program);
  EXPECT_EQ(out.end, ShrinkEnd::kRefused);
  EXPECT_EQ(out.calls, 1u);
}

// These predicates have nothing to do with the structure of the program.
TEST(Shrink, AcceptsArbitraryPredicates) {
  Random random(206);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t salt = random.next();
    const auto still = [&](ProgramView program) {
      std::uint64_t hash = salt;
      for (const Insn& in : program)
        hash = (hash ^ in.code ^ (std::uint64_t{in.k} << 17) ^ in.jt) * 0x9e3779b97f4a7c15;
      return hash >> 61 != 0 || program.size() > 40;
    };
    const Program program = random_program(random, random.between(41, 80));
    ASSERT_LE(shrunk(program, still).size(), 1u);
  }
}

// The program is longer than the kernel allows, because an optimizer's input may be.
TEST(Shrink, ShrinksLongPrograms) {
  Random random(207);
  Program program = random_program(random, 9000);
  const auto still = [](ProgramView p) {
    std::size_t adds = 0;
    for (const Insn& in : p) adds += in.code == kAddX ? 1 : 0;
    return adds >= 3;
  };
  ASSERT_TRUE(still(program));
  EXPECT_EQ(shrunk(program, still), assemble("add x\nadd x\nadd x\nret #0\n"));
}

}  // namespace
}  // namespace secequiv::generate_shrink_test
