#include "harness/generate/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "adapters/broken/planted_passes.h"
#include "harness/bpf/flow.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"

namespace secequiv::generate_program_test {
namespace {

void expect_accepted(const Program& program) {
  const auto refusal = refusal_of(program);
  ASSERT_FALSE(refusal) << describe(*refusal, program) << "\n" << asm_text(program);
}

std::size_t count(const Program& program, const std::function<bool(const Insn&)>& is) {
  return static_cast<std::size_t>(std::ranges::count_if(program, is));
}
std::size_t count(const Program& program, std::uint16_t code) {
  return count(program, [code](const Insn& in) { return in.code == code; });
}

TEST(GenerateProgram, ProgramsAreLegalAndCoverEveryFeature) {
  Random random(300);
  std::set<std::uint16_t> codes;
  std::map<std::string_view, std::size_t> seen;
  for (int i = 0; i < 20'000; ++i) {
    const Program program = generate_program(random);
    expect_accepted(program);
    if (HasFatalFailure()) return;
    seen["small"] += program.size() <= 80 ? 1 : 0;
    seen["hundreds"] += program.size() > 256 ? 1 : 0;
    seen["thousands"] += program.size() > 3000 ? 1 : 0;
    const auto reached = reachable(program);
    const auto flow = accumulator_flow(program);
    for (std::size_t pc = 0; pc < program.size(); ++pc) {
      const Insn& in = program[pc];
      if (!reached[pc]) ++seen["dead"];
      if (!reached[pc]) continue;
      codes.insert(in.code);
      if (in.code == kLdWAbs && flow[pc].is_word(in.k / 4)) ++seen["redundant load"];
      if (in.code == kRetA) ++seen["computed return"];
      if (is_conditional(in) && in.jt == in.jf) ++seen["equal targets"];
      if (is_conditional(in) && (in.jt == 255 || in.jf == 255)) ++seen["farthest target"];
      if (in.code != kJa) continue;
      seen["far"] += in.k > 255 ? 1 : 0;
      seen["null jump"] += in.k == 0 ? 1 : 0;
      seen["chain"] += program[jump_target(pc, in, true)].code == kJa ? 1 : 0;
    }
  }
  for (const InsnInfo& info : insn_table())
    EXPECT_EQ(codes.contains(info.code), info.seccomp) << info.name;
  EXPECT_GT(seen["small"], 18'000u);
  EXPECT_GT(seen["hundreds"], 100u);
  EXPECT_GT(seen["thousands"], 5u);
  for (const char* what :
       {"dead", "redundant load", "computed return", "equal targets", "far", "null jump", "chain"})
    EXPECT_GT(seen[what], 1000u) << what;
  EXPECT_GT(seen["farthest target"], 20u);
}

// Most programs of a single shape have the feature for which the shape exists.
TEST(GenerateProgram, EachShapeMostlyHasItsFeature) {
  using Is = std::function<bool(const Program&)>;
  const auto has = [](std::uint16_t code) -> Is {
    return [code](const Program& p) { return count(p, code) > 0; };
  };
  const auto loads = [](std::uint32_t word) {
    return [word](const Insn& in) { return in.code == kLdWAbs && in.k == 4 * word; };
  };
  const std::map<BlockShape, Is> expected = {
      {BlockShape::kNoise, [](const Program& p) { return p.size() > 4; }},
      {BlockShape::kLinearSearch, [](const Program& p) { return count(p, kJeqK) >= 3; }},
      {BlockShape::kTreeSearch,
       [](const Program& p) { return count(p, kJgeK) + count(p, kJgtK) >= 2; }},
      {BlockShape::kWideComparison,
       [&](const Program& p) {
         for (std::uint32_t word = 2; word < 16; word += 2)
           if (count(p, loads(word)) > 0 && count(p, loads(word + 1)) > 0) return true;
         return false;
       }},
      {BlockShape::kMasks,
       [](const Program& p) { return count(p, kAndK) + count(p, kJsetK) >= 2; }},
      {BlockShape::kDecidedTests, [](const Program& p) { return count(p, is_conditional) >= 3; }},
      {BlockShape::kRepeatedLoads,
       [&](const Program& p) {
         for (std::uint32_t word = 0; word < 16; ++word)
           if (count(p, loads(word)) >= 2) return true;
         return false;
       }},
      {BlockShape::kSimilarBlocks, [](const Program& p) { return count(p, kJeqK) >= 2; }},
      {BlockShape::kSimilarReturns,
       [](const Program& p) {
         for (std::size_t i = 0; i < p.size(); ++i)
           for (std::size_t j = 0; j < i; ++j)
             if (p[i].code == kRetK && p[j].code == kRetK && p[i].k != p[j].k &&
                 (p[i].k ^ p[j].k) < 0x10000)
               return true;
         return false;
       }},
      {BlockShape::kComputedReturns, has(kRetA)},
      {BlockShape::kDeadCode,
       [](const Program& p) {
         const auto reached = reachable(p);
         return std::ranges::find(reached, false) != reached.end();
       }},
      {BlockShape::kJumpChains, has(kJa)},
      {BlockShape::kDispatch, [&](const Program& p) { return count(p, loads(1)) > 0; }},
      {BlockShape::kScratch,
       [](const Program& p) {
         return count(p, kSt) > 0 && count(p, kLdMem) + count(p, kLdxMem) > 0;
       }},
      {BlockShape::kRegisters,
       [](const Program& p) { return count(p, kTax) > 0 && count(p, kTxa) > 0; }},
      {BlockShape::kArithmetic,
       [](const Program& p) {
         return count(p, [](const Insn& in) { return (in.code & 7) == 4; }) > 2;
       }},
      {BlockShape::kNestedJoins, [](const Program& p) { return count(p, is_conditional) >= 2; }},
      {BlockShape::kLongLists, [](const Program& p) { return count(p, is_conditional) >= 100; }},
      {BlockShape::kCompiled, [](const Program& p) { return count(p, is_conditional) >= 3; }},
      {BlockShape::kFarJumps,
       [](const Program& p) {
         for (const Insn& in : p)
           if (in.code == kJa && in.k > 240) return true;
         return false;
       }},
  };
  ASSERT_EQ(expected.size(), kShapes);
  for (const auto& [shape, is] : expected) {
    Random random(301);
    int matching = 0;
    for (int i = 0; i < 200; ++i) {
      const Program program = generate_program(random, {30, 1u << static_cast<unsigned>(shape)});
      expect_accepted(program);
      if (HasFatalFailure()) return;
      matching += is(program) ? 1 : 0;
    }
    EXPECT_GT(matching, 140) << shape_name(shape);
  }
}

TEST(GenerateProgram, LeavesOutDeadCodeOnRequest) {
  Random random(305);
  for (int i = 0; i < 3000; ++i) {
    const Program program = generate_program(random, {.dead_code = false});
    expect_accepted(program);
    if (HasFatalFailure()) return;
    const auto reached = reachable(program);
    ASSERT_EQ(std::ranges::find(reached, 0), reached.end()) << asm_text(program);
  }
}

TEST(GenerateProgram, LongListsHaveUpTo600Entries) {
  Random random(306);
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    const Program program = generate_program(
        random, {.length = 1200, .shapes = 1u << static_cast<unsigned>(BlockShape::kLongLists)});
    expect_accepted(program);
    most = std::max(most, count(program, is_conditional));
  }
  EXPECT_GE(most, 600u);
}

TEST(GenerateProgram, CompiledProgramsAreLegal) {
  EXPECT_EQ(compiled_programs().size(), 4u);
  for (const Program& program : compiled_programs()) {
    expect_accepted(program);
    EXPECT_GT(program.size(), 300u);
  }
}

TEST(GenerateProgram, LengthsAreNearTheRequestedOne) {
  Random random(302);
  for (const std::size_t length : {1u, 10u, 100u, 1000u, 4000u, 4096u, 100'000u}) {
    for (int i = 0; i < 20; ++i) {
      const Program program = generate_program(random, {length});
      expect_accepted(program);
      const std::size_t most = std::min(length, kMaxInsns);
      EXPECT_GE(program.size(), most / 3);
      EXPECT_LE(program.size(), 2 * most + 60);
    }
  }
}

TEST(GenerateProgram, TheSameSeedGivesTheSamePrograms) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random first(seed);
    Random second(seed);
    EXPECT_EQ(generate_program(first), generate_program(second));
    EXPECT_EQ(first.next(), second.next());
  }
  Random random(1);
  EXPECT_NE(generate_program(random), generate_program(random));
}

// Each planted bug must show often enough that a fuzzer with thousands of programs a second finds
// it at once.
class PlantedPassOnGenerated : public testing::TestWithParam<broken::PlantedPass> {};

TEST_P(PlantedPassOnGenerated, IsFoundAfterFewPrograms) {
  const auto& pass = std::get<BytecodePass>(GetParam().run);
  Random random(303);
  int shown = 0;
  for (int i = 0; i < 5000; ++i) {
    const Program program = generate_program(random);
    const Program after = pass(program);
    if (after == program) continue;
    for (const SeccompData& input : random_inputs(random, program, 20)) {
      if (run(program, input) == run(after, input)) continue;
      ++shown;
      break;
    }
  }
  RecordProperty("shown", shown);
  EXPECT_GE(shown, GetParam().pass == "thread-conditional-jumps" ? 1 : 10) << GetParam().bug;
}

INSTANTIATE_TEST_SUITE_P(Bytecode, PlantedPassOnGenerated,
                         testing::ValuesIn(broken::planted_bytecode_passes()),
                         [](const auto& parameter) {
                           std::string name(parameter.param.pass);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(ScaledPrograms, HaveTheRequestedLength) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    names.insert(family_name(family));
    Random random(304);
    Random again(304);
    const auto programs = scaled_programs(random, family);
    EXPECT_EQ(programs, scaled_programs(again, family));
    ASSERT_EQ(programs.size(), 7u);
    std::size_t length = 64;
    for (const Program& program : programs) {
      EXPECT_EQ(program.size(), length) << family_name(family);
      length *= 2;
      expect_accepted(program);
      // In all families but two, nearly all instructions are reachable.
      const auto reached = reachable(program);
      const auto live = static_cast<std::size_t>(std::ranges::count(reached, true));
      if (family == Family::kDeadCode) {
        EXPECT_LT(live, 5u);
      } else if (family == Family::kJumpChains) {
        EXPECT_GT(live, program.size() / 2 - 4);
      } else {
        EXPECT_GT(live, program.size() - 8) << family_name(family);
      }
    }
  }
  EXPECT_EQ(names.size(), kFamilies);
}

}  // namespace
}  // namespace secequiv::generate_program_test
