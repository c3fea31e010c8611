#include "verify/walk/product_walk.h"

#include <gtest/gtest.h>

#include <functional>

#include "adapters/broken/planted_passes.h"
#include "harness/base/random.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/mutate.h"
#include "harness/generate/program.h"
#include "harness/generate/random_program.h"
#include "harness/optimize/optimizer.h"
#include "verify/dd/engine.h"

namespace secequiv::walk::product_walk_test {
namespace {

bool same_text(std::string_view before, std::string_view after,
               Sameness sameness = Sameness::kRaw) {
  return ProductWalk().same(assemble(before), assemble(after), sameness);
}

TEST(ProductWalk, ProvesEveryPassOnItsExample) {
  for (const Pass& pass : bytecode_passes())
    EXPECT_TRUE(same_text(pass.example_before, pass.example_after)) << pass.name;
}

TEST(ProductWalk, AnEarlierTestDecidesALaterOne) {
  // The outcome of the first test decides the second one, which goes to `y` or `n`.
  struct Case {
    const char* first;
    const char* second;
    bool taken;  // outcome of the first test
    bool decided;
  };
  const Case cases[] = {
      {"jeq #5", "jeq #5", true, true},
      {"jeq #5", "jeq #6", true, false},
      {"jeq #5", "jgt #4", true, true},
      {"jeq #5", "jset #2", true, false},
      {"jeq #5", "jset #6", true, true},
      {"jeq #5", "jeq #5", false, false},
      {"jgt #5", "jge #6", true, true},
      {"jgt #5", "jeq #5", true, false},
      {"jgt #5", "jgt #5", false, false},
      {"jge #5", "jgt #4", true, true},
      {"jge #5", "jge #5", false, false},
      {"jge #5", "jgt #4", false, false},
      {"jset #4", "jeq #3", true, false},
      {"jset #4", "jset #6", true, true},
      {"jset #6", "jset #14", true, true},
      {"jset #6", "jset #2", false, false},
      {"jset #6", "jeq #2", false, false},
      {"jset #6", "jgt #1", true, true},
      {"jset #0x80000000", "jge #0x80000000", false, false},
  };
  for (const Case& c : cases) {
    const std::string first = std::string(c.first) + (c.taken ? ", m, z\n" : ", z, m\n");
    const std::string decided = first + "m: ja " + (c.decided ? "y" : "n");
    const std::string tested = first + "m: " + c.second + ", y, n";
    const std::string wrong = first + "m: ja " + (c.decided ? "n" : "y");
    const std::string end = "\ny: ret #1\nn: ret #2\nz: ret #3\n";
    EXPECT_TRUE(same_text("ld [0]\n" + tested + end, "ld [0]\n" + decided + end)) << tested;
    EXPECT_TRUE(same_text("ld [0]\n" + decided + end, "ld [0]\n" + tested + end)) << tested;
    EXPECT_FALSE(same_text("ld [0]\n" + tested + end, "ld [0]\n" + wrong + end)) << tested;
  }
}

// In each pair, the first test leaves the second undecided, although a slightly different constant
// would decide it.
TEST(ProductWalk, TestsThatNoEarlierTestDecidesStayUndecided) {
  const std::pair<const char*, const char*> cases[] = {
      {"jeq #5, z, m", "jeq #4"},   {"jgt #5, m, z", "jge #7"},  {"jgt #5, m, z", "jeq #6"},
      {"jgt #5, z, m", "jge #5"},   {"jge #5, m, z", "jgt #5"},  {"jge #5, z, m", "jge #4"},
      {"jset #6, m, z", "jset #2"}, {"jset #6, m, z", "jeq #2"}, {"jset #6, m, z", "jgt #2"},
      {"jset #6, z, m", "jset #7"}, {"jset #6, z, m", "jeq #1"},
  };
  for (const auto& [first, second] : cases)
    for (const char* const outcome : {"y", "n"}) {
      const std::string start = std::string("ld [0]\n") + first + "\nm: ";
      const std::string end = "\ny: ret #1\nn: ret #2\nz: ret #3\n";
      EXPECT_FALSE(same_text(start + second + ", y, n" + end, start + "ja " + outcome + end))
          << first << " then " << second;
    }
}

TEST(ProductWalk, RemembersSeveralTests) {
  const std::string start =
      "ld [0]\njeq #1, z, e\ne: jeq #2, z, b\nb: jeq #3, z, c\nc: ld [4]\n"
      "jgt #9, d, z\nd: ld [0]\n";
  const std::string end = "y: ret #1\nn: ret #2\nz: ret #3\n";
  for (const char* const value : {"1", "2", "3"}) {
    const std::string test = std::string("jeq #") + value + ", y, n\n";
    EXPECT_TRUE(same_text(start + test + end, start + "ja n\n" + end)) << value;
    EXPECT_FALSE(same_text(start + test + end, start + "ja y\n" + end)) << value;
  }
  EXPECT_FALSE(same_text(start + "jeq #4, y, n\n" + end, start + "ja n\n" + end));
  // A value that is excluded on only one of two joined paths is not excluded after the join.
  const std::string either =
      "ld [4]\njgt #9, p, q\np: ld [0]\njeq #1, z, b\nb: jeq #2, z, m\n"
      "q: ld [0]\njeq #2, z, c\nc: jeq #3, z, m\n"
      "m: ld [8]\njeq #5, z, d\nd: ld [0]\n";
  for (const char* const value : {"1", "2", "3"})
    EXPECT_EQ(same_text(either + "jeq #" + value + ", y, n\n" + end, either + "ja n\n" + end),
              value[0] == '2')
        << value;
}

TEST(ProductWalk, JoinsPathsThatMeet) {
  // The paths p and q meet at m. The test of another word after m makes the walk join them there.
  const auto meet = [](const std::string& p, const std::string& q, const std::string& then) {
    return "ld [0]\njeq #1, p, q\np: " + p + "ja m\nq: " + q +
           "m: ld [12]\njeq #1, r, s\nr: " + then + "ret a\ns: ret #1\n";
  };
  // Registers that are equal on both paths stay equal. Registers that differ become one unknown,
  // which both programs share.
  EXPECT_TRUE(same_text(meet("ld [4]\ntax\n", "ld [8]\ntax\n", "txa\n"),
                        meet("ld [4]\nst M[3]\n", "ld [8]\nst M[3]\n", "ld M[3]\n")));
  EXPECT_FALSE(same_text(meet("ld [4]\ntax\n", "ld [8]\ntax\n", "txa\n"),
                         meet("ld [8]\ntax\n", "ld [4]\ntax\n", "txa\n")));
  // M[3] and X hold different values on one of the paths.
  const std::string both = "ld [4]\nst M[3]\ntax\n";
  const std::string apart = "ld [8]\nst M[3]\nldx #7\n";
  EXPECT_TRUE(same_text(meet(both, both, "txa\n"), meet(both, both, "ld M[3]\n")));
  EXPECT_FALSE(same_text(meet(both, apart, "txa\n"), meet(both, apart, "ld M[3]\n")));
  EXPECT_FALSE(same_text(meet(apart, both, "txa\n"), meet(apart, both, "ld M[3]\n")));
  // A fact about a word that holds on only one path does not hold where the paths meet.
  const std::string tests = "ld [0]\njgt #7, m, q\nq: ld [4]\njeq #1, p, z\np: ld [0]\nm: ";
  const std::string end = "y: ret #1\nn: ret #2\nz: ret #3\n";
  EXPECT_FALSE(same_text(tests + "jgt #5, y, n\n" + end, tests + "ja y\n" + end));
  // A fact about a register that holds on both paths also holds where they meet, even if the paths
  // loaded different words.
  const std::string words = "ld [0]\njgt #7, m, q\nq: ld [4]\njgt #9, m, z\nm: st M[0]\n";
  EXPECT_TRUE(same_text(words + "ld [8]\njeq #1, y, k\nk: ld M[0]\njgt #5, y, n\n" + end,
                        words + "ld [8]\njeq #1, y, k\nk: ja y\n" + end));
  EXPECT_TRUE(same_text(words + "jgt #5, y, n\n" + end, words + "ja y\n" + end));
  EXPECT_FALSE(same_text(words + "jgt #8, y, n\n" + end, words + "ja y\n" + end));
}

// The walk reaches the same instruction by a short path first and by a longer one later.
TEST(ProductWalk, JoinsAllPathsBeforeLeaving) {
  EXPECT_FALSE(same_text("ld [0]\njeq #1, z, n\nn: ld #0\nz: ret #1\n",
                         "ld [0]\nldx #1\njeq #1, m, n\n"
                         "n: ld [4]\njeq #5, d, good\nd: ldx #2\n"
                         "m: ld [8]\njeq #3, c, good\nc: txa\njeq #1, good, bad\n"
                         "bad: ret #2\ngood: ret #1\n"));
}

TEST(ProductWalk, DivisionsByZeroEndThePrograms) {
  const std::string start = "ldx #0\nld [0]\ntax\nld [4]\n";
  EXPECT_TRUE(same_text(start + "div x\nret a\n", "ld [0]\ntax\nld [4]\ndiv x\nret a\n"));
  // A division whose result is unused may still end the program.
  EXPECT_FALSE(same_text(start + "div x\nret #1\n", start + "ret #1\n"));
  EXPECT_FALSE(same_text(start + "ret #1\n", start + "div x\nret #1\n"));
  EXPECT_FALSE(same_text(start + "div x\nret #1\n", "ld [4]\ntax\nld [0]\ndiv x\nret #1\n"));
  // If the divisor is known, the walk decides whether the program ends.
  EXPECT_TRUE(same_text("ldx #3\nld [0]\ndiv x\nret #1\n", "ret #1\n"));
  EXPECT_TRUE(same_text("ldx #0\nld [0]\ndiv x\nret #1\n", "ret #0\n"));
  EXPECT_FALSE(same_text("ldx #0\nld [0]\ndiv x\nret #1\n", "ret #1\n"));
  EXPECT_TRUE(same_text("ld [0]\njeq #0, z, d\nd: tax\ndiv x\nret #1\nz: ret #2\n",
                        "ld [0]\njeq #0, z, d\nd: ret #1\nz: ret #2\n"));
  EXPECT_TRUE(same_text("ld [0]\njeq #0, z, d\nd: ret #1\nz: tax\ndiv x\nret #2\n",
                        "ld [0]\njeq #0, z, d\nd: ret #1\nz: ret #0\n"));
}

TEST(ProductWalk, ComparesReturnValues) {
  EXPECT_FALSE(same_text("ret #0x7fff0001\n", "ret #0x7fff0000\n"));
  EXPECT_TRUE(same_text("ret #0x7fff0001\n", "ret #0x7fff0000\n", Sameness::kBehaviour));
  EXPECT_FALSE(same_text("ret #0x50001\n", "ret #0x50002\n", Sameness::kBehaviour));
  EXPECT_TRUE(same_text("ld [0]\njeq #5, y, n\ny: ret a\nn: ret #1\n",
                        "ld [0]\njeq #5, y, n\ny: ret #5\nn: ret #1\n"));
  EXPECT_FALSE(same_text("ld [0]\nret a\n", "ld [4]\nret a\n"));
  EXPECT_FALSE(same_text("ld [0]\nadd #1\nret a\n", "ld [0]\nadd #2\nret a\n"));
  EXPECT_FALSE(same_text("ld [0]\nret a\n", "ret #0\n"));
}

// Arithmetic on constants must match the interpreter, and the walk must not confuse two
// instructions.
TEST(ProductWalk, EveryPairOfInstructionsAgreesWithInterpreter) {
  std::vector<Insn> alphabet;
  for (const InsnInfo& info : insn_table()) {
    const Insn in{info.code, 0, 0, 0};
    if (!info.seccomp || is_ret(in) || is_jump(in) || info.operand == Operand::Mem) continue;
    for (const std::uint32_t k : {0u, 1u, 4u, 16u}) {
      const Insn with{info.code, 0, 0, k};
      if (!refusal_of(Program{with, Insn{kRetA, 0, 0, 0}})) alphabet.push_back(with);
    }
  }
  EXPECT_GT(alphabet.size(), 60u);
  const std::vector<Program> starts = {
      assemble("ldx #0xfffffff9\nld #0x80000005\nret a"), assemble("ldx #3\nld #100\nret a"),
      assemble("ld [4]\ntax\nld [8]\nret a"), assemble("ldx #5\nld [8]\nret a")};
  ProductWalk walk;
  Random random(7);
  std::size_t found = 0;
  for (const Program& start : starts)
    for (const Insn& one : alphabet)
      for (const Insn& other : alphabet) {
        Program before = start;
        Program after = start;
        const auto tail = {Insn{kTxa, 0, 0, 0}, Insn{kRetA, 0, 0, 0}};
        before.insert(before.end() - 1, one);
        after.insert(after.end() - 1, other);
        if ((one.code & 7) == 1 || one.code == kTax) {  // return the value of X
          before.insert(before.end() - 1, *tail.begin());
          after.insert(after.end() - 1, *tail.begin());
        }
        if (!walk.same(before, after, Sameness::kRaw)) continue;
        ++found;
        for (int i = 0; i < 8; ++i) {
          SeccompData input{};
          for (auto& word : input.words) word = random.word() >> random.below(32);
          ASSERT_EQ(run(before, input), run(after, input)) << asm_text(before) << asm_text(after);
        }
      }
  EXPECT_GT(found, starts.size() * alphabet.size());
}

// Returns a program in which each of `tests` tests may jump to a block of `length` instructions.
Program jumping_to_a_block(std::uint32_t tests, std::uint32_t length) {
  Program out = {{kLdWAbs, 0, 0, 16}, {kTax, 0, 0, 0}};
  for (std::uint32_t i = 0; i < tests; ++i) {
    const std::uint32_t rest = 3 * (tests - 1 - i) + 1;  // between the jump and the block
    out.insert(out.end(), {{kMulX, 0, 0, 0}, {kJeqK, 0, 1, i}, {kJa, 0, 0, rest}});
  }
  out.push_back({kRetK, 0, 0, 1});
  for (std::uint32_t i = 0; i < length; ++i) out.push_back({kAddK, 0, 0, i + 1});
  out.insert(out.end(), {{kJeqK, 0, 1, 7}, {kRetK, 0, 0, 2}, {kRetK, 0, 0, 3}});
  return out;
}

TEST(ProductWalk, GivesUpIfItExecutesLongBlocksTooOften) {
  ProductWalk walk;
  const auto same = [&](std::uint32_t length) {
    const Program program = jumping_to_a_block(600, length);
    return walk.same(program, program, Sameness::kRaw);
  };
  EXPECT_TRUE(same(10));
  EXPECT_FALSE(same(2000));
}

// Checks that the walk never reports a differing pair as equivalent. `change` makes the second
// program.
void never_wrong(std::uint64_t seed, int cases, int least_different,
                 const std::function<Program(Random&, const Program&)>& change) {
  Random random(seed);
  ProductWalk walk;
  int different = 0;
  for (int i = 0; i < of_cases(cases); ++i) {
    const Program before =
        random.one_in(2) ? random_program(random, random.between(1, 12)) : generate_program(random);
    const Program after = change(random, before);
    const auto proof = dd::prove(Pair{before, after}, {.nodes = 20'000, .steps = 20'000});
    ASSERT_TRUE(proof);
    if (proof->verdict != Verdict::kDifferent) continue;
    ++different;
    ASSERT_FALSE(walk.same(before, after, Sameness::kRaw)) << asm_text(before) << "\n"
                                                           << asm_text(after);
    ASSERT_FALSE(walk.same(after, before, Sameness::kRaw)) << asm_text(before) << "\n"
                                                           << asm_text(after);
  }
  EXPECT_GE(different, of_cases(least_different));
}

TEST(ProductWalk, IsNeverWrongAboutMutants) {
  never_wrong(21, 8000, 2000,
              [](Random& random, const Program& p) { return mutate_program(random, p); });
}

TEST(ProductWalk, IsNeverWrongAboutOptimizedMutants) {
  never_wrong(22, 8000, 2000, [](Random& random, const Program& p) {
    return optimize(mutate_program(random, p)).program;
  });
}

TEST(ProductWalk, IsNeverWrongAboutPlantedPasses) {
  for (const broken::PlantedPass& planted : broken::planted_bytecode_passes())
    never_wrong(23, 800, 1, [&](Random& random, const Program& p) {
      const Program wrong = std::get<BytecodePass>(planted.run)(p);
      return random.one_in(2) ? wrong : optimize(wrong).program;
    });
}

TEST(ProductWalk, ProvesNearlyAllOptimizedPrograms) {
  Random random(24);
  ProductWalk walk;
  int proven = 0;
  constexpr int kCases = of_cases(5000);
  for (int i = 0; i < kCases; ++i) {
    const Program before = generate_program(random);
    if (walk.same(before, optimize(before).program, Sameness::kRaw)) ++proven;
  }
  // The pass fewer-tests costs one in a hundred: facts that join where paths meet lose exceptions.
  EXPECT_GE(proven, kCases * 98 / 100);
}

// Each return of one program meets each test of the other, so the walk has to give up.
TEST(ProductWalk, GivesUpWithinLimit) {
  Program up;
  Program down;
  for (std::uint32_t k = 0; k < 1000; ++k) {
    for (const auto& [program, i] : {std::pair(&up, k), std::pair(&down, 999 - k)}) {
      program->push_back({kLdWAbs, 0, 0, i % 16 * 4});
      program->push_back({kJeqK, 0, 1, i});
      program->push_back({kRetK, 0, 0, 1});
    }
  }
  for (Program* const program : {&up, &down}) program->push_back({kRetK, 0, 0, 1});
  ProductWalk walk;
  EXPECT_FALSE(walk.same(up, down, Sameness::kRaw));
  EXPECT_GT(walk.work(), up.size());
  EXPECT_LT(walk.work(), 50 * up.size());
  EXPECT_TRUE(walk.same(up, up, Sameness::kRaw));
  EXPECT_LT(walk.work(), up.size());
}

TEST(ProductWalk, ProvesLongProgramsEqualToThemselves) {
  Random random(25);
  ProductWalk walk;
  for (std::size_t family = 0; family < kFamilies; ++family) {
    const Program program = scaled_programs(random, static_cast<Family>(family)).back();
    EXPECT_TRUE(walk.same(program, program, Sameness::kRaw))
        << family_name(static_cast<Family>(family));
  }
}

}  // namespace
}  // namespace secequiv::walk::product_walk_test
