// Tests proofs of filters with names in place of numbers. The tests run each "equivalent" pair with
// many values and prove it again for some of them. They run each "different" pair with its witness.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "verify/dd/prover.h"
#include "verify/decide/decide.h"
#include "verify/smt/solver.h"

namespace secequiv::decide_symbols_test {
namespace {

SymbolicProgram symbolic(std::string_view text) {
  auto program = read_symbolic(text, "test", Form::kAsm);
  if (program) return std::move(*program);
  ADD_FAILURE() << program.error().text() << "\n" << text;
  return {{{kRetK, 0, 0, 0}}, {}};
}

// Two filters and the question about them. It cannot be copied, because the question refers to the
// filters.
struct Asked {
  SymbolicProgram before;
  SymbolicProgram after;
  Question question;

  Asked(SymbolicProgram one, SymbolicProgram other)
      : before(std::move(one)), after(std::move(other)) {
    question.before = {before.program};
    question.after = {after.program};
    question.symbols.add(before.program, before.uses);
    question.symbols.add(after.program, after.uses);
  }
  Asked(std::string_view one, std::string_view other) : Asked(symbolic(one), symbolic(other)) {}
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
};

std::vector<std::pair<std::string, std::uint32_t>> by_name(const Question& question,
                                                           const std::vector<std::uint32_t>& v) {
  std::vector<std::pair<std::string, std::uint32_t>> out;
  out.reserve(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) out.emplace_back(question.symbols.all()[i].name, v[i]);
  return out;
}

// Fills in values for the names without using Symbols, and checks that the kernel accepts the
// results.
Pair filled(const Asked& asked, const std::vector<std::uint32_t>& values) {
  SymbolicProgram before = asked.before;
  SymbolicProgram after = asked.after;
  fill(before, by_name(asked.question, values));
  fill(after, by_name(asked.question, values));
  EXPECT_TRUE(before.uses.empty() && after.uses.empty());
  EXPECT_FALSE(refusal_of(before.program)) << asm_text(before.program);
  EXPECT_FALSE(refusal_of(after.program)) << asm_text(after.program);
  return {before.program, after.program, asked.question.sameness};
}

Proof proven(const Question& question, Engine engine) {
  auto proof = decide(question, engine, {.timeout_seconds = 60});
  EXPECT_TRUE(proof) << (proof ? "" : proof.error().text());
  return proof ? *proof : Proof{};
}

// Checks that the two sides differ when the witness is run.
void expect_true_witness(const Asked& asked, const Proof& proof) {
  ASSERT_TRUE(proof.witness);
  ASSERT_EQ(proof.symbols.size(), asked.question.symbols.size());
  const Pair pair = filled(asked, proof.symbols);
  if (testing::Test::HasFailure()) return;
  const std::uint32_t before = run(pair.before, proof.witness->data);
  const std::uint32_t after = run(pair.after, proof.witness->data);
  EXPECT_EQ(before, proof.witness->before);
  EXPECT_EQ(after, proof.witness->after);
  EXPECT_FALSE(same_decision(before, after, pair.sameness));
}

std::vector<std::uint32_t> random_values(const Question& question, ProgramView near,
                                         Random& random) {
  std::vector<std::uint32_t> out;
  for (const Symbol& symbol : question.symbols.all()) {
    std::uint32_t value = random.pick(std::vector<std::uint32_t>{
        0, 1, 2, 31, 0x7fffffff, 0xffffffff, random.word(), random.pick(near).k,
        static_cast<std::uint32_t>(random.below(8)), out.empty() ? 0 : random.pick(out)});
    if (symbol.high < 0xffffffff) value %= symbol.high + 1;
    out.push_back(std::max(value, symbol.low));
  }
  return out;
}

void expect_same_for_many(const Asked& asked, Random& random, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto values = random_values(asked.question, asked.before.program, random);
    const Pair pair = filled(asked, values);
    if (testing::Test::HasFailure()) return;
    for (const SeccompData& input : random_inputs(random, pair.before, 40))
      ASSERT_EQ(run(pair.before, input), run(pair.after, input)) << asm_text(pair.before) << "\n"
                                                                 << asm_text(pair.after);
    if (round % 4 != 0) continue;
    const auto once_more = dd::prove(pair, {.nodes = 100'000, .steps = 1'000'000});
    ASSERT_TRUE(once_more);
    ASSERT_NE(once_more->verdict, Verdict::kDifferent) << asm_text(pair.before) << "\n"
                                                       << asm_text(pair.after);
  }
}

constexpr Engine::Kind kEngines[] = {Engine::kZ3, Engine::kDd, Engine::kBoth};

TEST(SymbolProofs, EquivalentProgramsAreProvenForAllValues) {
  const std::pair<const char*, const char*> pairs[] = {
      {"ret #$x", "ret #$x"},
      {"ret #$x", "ld #$x\nret a"},
      {"ret #$x", "ldx #$x\ntxa\nret a"},
      {"ld #$x\nadd #$y\nret a", "ld #$y\nadd #$x\nret a"},
      {"ld [0]\njeq #$fd, y, n\ny: ret #1\nn: ret #2", "ld [0]\njne #$fd, n\nret #1\nn: ret #2"},
      {"ld [0]\njeq #$fd, y, n\ny: ret #1\nn: ret #2",
       "ld [0]\nsub #$fd\njeq #0, y, n\ny: ret #1\nn: ret #2"},
      {"ld [0]\njeq #$fd, y, n\ny: ret a\nn: ret #0",
       "ldx #$fd\nld [0]\njeq x, y, n\ny: ret #$fd\nn: ret #0"},
      {"ld [16]\njgt #$x, y, n\ny: ret #1\nn: ret #2", "ld [16]\njle #$x, n\nret #1\nn: ret #2"},
      {"ld [16]\njge #$x, y, n\ny: ret #1\nn: ret #2",
       "ldx #$x\nld [16]\njeq x, y, m\nm: jgt x, y, n\ny: ret #1\nn: ret #2"},
      {"ld [0]\nand #$m\njeq #0, n, y\ny: ret #1\nn: ret #2",
       "ld [0]\njset #$m, y, n\ny: ret #1\nn: ret #2"},
      {"ld [0]\nxor #$m\nxor #$n\nret a", "ld [0]\nxor #$n\nxor #$m\nret a"},
      {"ld [0]\nor #$m\nand #$m\nret a", "ret #$m"},
      // The comparison repeats an earlier one.
      {"ld [0]\njeq #$a, y, n\ny: jeq #$a, t, n\nt: ret #1\nn: ret #2",
       "ld [0]\njeq #$a, t, n\nt: ret #1\nn: ret #2"},
      {"ld #$a\njeq #7, y, n\ny: ret #$a\nn: ret #0", "ld #$a\njeq #7, y, n\ny: ret #7\nn: ret #0"},
      {"ld #$a\njgt #$b, y, n\ny: ld #$b\njge #$a, t, n\nt: ret #1\nn: ret #2", "ret #2"},
      // These are equivalent only because the kernel accepts no other values of the symbol.
      {"ld [0]\nrsh #$k\nret a", "ldx #$k\nld [0]\nrsh x\nret a"},
      {"ld [0]\nlsh #$k\nst M[3]\nld M[3]\nret a", "ldx #$k\nld [0]\nlsh x\nret a"},
      {"ld #8\ndiv #$k\nst M[0]\nld #$k\njeq #0, y, n\ny: ret #1\nn: ret #2",
       "ld #8\ndiv #$k\nret #2"},
      {"ld #1\nlsh #$k\nld #$k\njgt #31, y, n\ny: ret #1\nn: ret #2", "ret #2"},
  };
  Random random(1);
  for (const auto& [before, after] : pairs) {
    const Asked asked(before, after);
    SCOPED_TRACE(std::string(before) + "\n--\n" + after);
    for (const Engine::Kind engine : kEngines) {
      const Proof proof = proven(asked.question, engine);
      EXPECT_EQ(proof.verdict, Verdict::kEquivalent) << static_cast<int>(engine) << proof.detail;
      // The SAT engine runs before diagrams take many steps.
      const bool by_sat = engine == Engine::kDd && proof.engine == "sat";
      EXPECT_EQ(proof.engine, engine == Engine::kZ3   ? "z3"
                              : by_sat                ? "sat"
                              : engine == Engine::kDd ? "dd"
                                                      : "dd and z3");
    }
    expect_same_for_many(asked, random, of_cases(100));
  }
}

// The filters differ if $fd is not the placeholder. Symbols refer to instructions by address, so an
// engine would read the placeholder in a copy and report "equivalent".
TEST(SymbolProofs, SymbolsInACopiedProgramAreRefused) {
  const Asked asked("ld [16]\njeq #$fd, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n",
                    "ld [16]\njeq #1, yes, no\nyes: ret #0x7fff0000\nno: ret #0\n");
  const Program copy = asked.before.program;
  Question question = asked.question;
  question.before = {copy};
  for (const Engine engine : {Engine::kDd, Engine::kZ3, Engine::kBoth}) {
    const auto refused = decide(question, engine, Budget{});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInternal) << refused.error().text();
    const auto proof = decide(asked.question, engine, Budget{});
    ASSERT_TRUE(proof) << proof.error().text();
    EXPECT_EQ(proof->verdict, Verdict::kDifferent);
  }
  question.symbols = question.symbols.names_only();
  EXPECT_TRUE(check_symbols(question));
}

TEST(SymbolProofs, DivisionNeedsTheSolver) {
  const Asked asked("ld [0]\ndiv #$k\nret a", "ldx #$k\nld [0]\ndiv x\nret a");
  EXPECT_EQ(asked.question.symbols.all(), std::vector{(Symbol{"k", 1, 0xffffffff})});
  EXPECT_EQ(proven(asked.question, Engine::kZ3).verdict, Verdict::kEquivalent);
  Random random(2);
  expect_same_for_many(asked, random, of_cases(100));
}

struct Different {
  const char* before;
  const char* after;
  std::vector<std::uint32_t> symbols;  // smallest values
  std::vector<std::uint32_t> words;    // words of the input, from nr on
};

TEST(SymbolProofs, FindsTheSmallestDifference) {
  const Different cases[] = {
      {"ret #$x", "ret #$y", {0, 1}, {}},
      {"ret #$x", "ret #0", {1}, {}},
      {"ret #0", "ret #$x", {1}, {}},
      {"ret #$x", "ret #1", {0}, {}},
      {"ld #$x\nret a", "ld #$y\nret a", {0, 1}, {}},
      {"ld [0]\njeq #$a, y, n\ny: ret #1\nn: ret #2",
       "ld [0]\njeq #$b, y, n\ny: ret #1\nn: ret #2",
       {0, 1},
       {0}},
      {"ld [0]\njgt #$a, y, n\ny: ret #1\nn: ret #2",
       "ld [0]\njge #$a, y, n\ny: ret #1\nn: ret #2",
       {0},
       {0}},
      {"ld [0]\njgt #$a, y, n\ny: ret #1\nn: ret #2",
       "ld [0]\njgt #$b, y, n\ny: ret #1\nn: ret #2",
       {0, 1},
       {1}},
      {"ld [0]\njset #$m, y, n\ny: ret #1\nn: ret #2", "ret #2", {1}, {1}},
      {"ld #$x\njeq #0x12345678, y, n\ny: ret #1\nn: ret #2", "ret #2", {0x12345678}, {}},
      {"ret #2",
       "ld #$x\njeq #$y, n, m\nm: ld [0]\nsub #$x\njeq #9, y, n\ny: ret #1\nn: ret #2",
       {0, 1},
       {9}},
      {"ld #$x\nsub #$y\nret a", "ld #$y\nsub #$x\nret a", {0, 1}, {}},
      // The smallest value must be one that the kernel accepts.
      {"ld #1\nlsh #$k\nret a", "ret #1", {1}, {}},
      {"ld #1\nlsh #$k\njeq #0x80000000, y, n\ny: ret #1\nn: ret #2", "ret #2", {31}, {}},
  };
  for (const Different& one : cases) {
    const Asked asked(one.before, one.after);
    SCOPED_TRACE(std::string(one.before) + "\n--\n" + one.after);
    for (const Engine::Kind engine : kEngines) {
      const Proof proof = proven(asked.question, engine);
      ASSERT_EQ(proof.verdict, Verdict::kDifferent) << static_cast<int>(engine) << proof.detail;
      expect_true_witness(asked, proof);
      EXPECT_TRUE(proof.minimal);
      EXPECT_EQ(proof.symbols, one.symbols);
      SeccompData expected;
      std::ranges::copy(one.words, expected.words.begin());
      EXPECT_EQ(proof.witness->data, expected) << describe(proof.witness->data);
    }
    const auto proof = dd::Prover().prove(asked.question);
    ASSERT_TRUE(proof);
    EXPECT_EQ(proof->verdict, Verdict::kDifferent) << "dd::Prover must find the difference, too";
  }
}

TEST(SymbolProofs, SupportsRefinementStacksAndBehaviour) {
  const char* const before = "ld [0]\njeq #$a, y, n\ny: ret #$r\nn: ret #0x00050001";
  {
    Asked asked(before, "ret #0x00050001");
    asked.question.goal = Question::Goal::kRefines;
    for (const Engine::Kind engine : kEngines)
      EXPECT_EQ(proven(asked.question, engine).relation, Relation::kIncomparable);
  }
  {
    Asked asked("ret #$r", "ret #0x80000000");
    asked.question.goal = Question::Goal::kRefines;
    for (const Engine::Kind engine : kEngines)
      EXPECT_EQ(proven(asked.question, engine).verdict, Verdict::kPass);
  }
  {
    // Two stacked filters use the same name.
    Asked asked("ret #$r", "ret #$r");
    const Program allow = assemble("ret #0x7fff0000");
    asked.question.after = {allow, asked.after.program};
    for (const Engine::Kind engine : kEngines) {
      const Proof proof = proven(asked.question, engine);
      ASSERT_EQ(proof.verdict, Verdict::kDifferent);
      EXPECT_EQ(proof.symbols, std::vector{0x7fff0001u});
    }
    asked.question.before = {asked.before.program, allow};
    for (const Engine::Kind engine : kEngines) {
      const Proof proof = proven(asked.question, engine);
      ASSERT_EQ(proof.verdict, Verdict::kEquivalent);
    }
  }
  {
    Asked asked("ret #$r", "ld #$r\nor #0x10\nret a");
    asked.question.sameness = Sameness::kBehaviour;
    for (const Engine::Kind engine : kEngines) {
      const Proof proof = proven(asked.question, engine);
      ASSERT_EQ(proof.verdict, Verdict::kDifferent);
      expect_true_witness(asked, proof);
      EXPECT_EQ(proof.symbols, std::vector{0x00030000u});
    }
  }
}

TEST(SymbolProofs, AssumptionsMayNameSymbols) {
  const char* const before = "ld [0]\njgt #$a, y, n\ny: ret #1\nn: ret #2";
  const char* const after = "ld [0]\njge #$b, y, n\ny: ret #1\nn: ret #2";
  struct Case {
    const char* assumption;
    Verdict verdict;
    std::vector<std::uint32_t> symbols;
  };
  const Case cases[] = {
      {"$a == 3 && $b == 4", Verdict::kEquivalent, {}},
      {"$a == 3 && $b in {5, 7..9}", Verdict::kDifferent, {3, 5}},
      {"$a >= 0xffffffff && nr < 4", Verdict::kDifferent, {0xffffffff, 0}},
      {"$a > 100 && $b > 100 && nr < 4", Verdict::kEquivalent, {}},
      {"!($a & 0xf0 != 0xf0) && $b != 0", Verdict::kDifferent, {0xf0, 1}},
  };
  for (const Case& one : cases) {
    Asked asked(before, after);
    auto parsed = parse_assumption(one.assumption, Arch::kX86_64, asked.question.symbols.all());
    ASSERT_TRUE(parsed) << parsed.error().text();
    asked.question.assumption = *parsed;
    const auto again =
        parse_assumption(describe(*parsed), Arch::kX86_64, asked.question.symbols.all());
    ASSERT_TRUE(again) << describe(*parsed);
    EXPECT_EQ(*again, *parsed);
    for (const Engine::Kind engine : kEngines) {
      const Proof proof = proven(asked.question, engine);
      EXPECT_EQ(proof.verdict, one.verdict) << one.assumption;
      EXPECT_EQ(proof.symbols, one.symbols) << one.assumption;
    }
  }
  Asked asked("ld #9\ndiv #$k\nret a", "ret #0");
  asked.question.assumption =
      *parse_assumption("$k == 0", Arch::kX86_64, asked.question.symbols.all());
  for (const Engine::Kind engine : kEngines) {
    const auto proof = decide(asked.question, engine, {});
    ASSERT_FALSE(proof) << "a proof would mean nothing";
    EXPECT_EQ(proof.error().code, ErrorCode::kUsage);
  }
  for (const char* const wrong :
       {"$c == 1", "$ == 1", "$a == read", "$a.lo == 1", "$a < 0x100000000"})
    EXPECT_FALSE(parse_assumption(wrong, Arch::kX86_64, asked.question.symbols.all())) << wrong;
}

TEST(SymbolProofs, ExceededLimitsGiveUnknown) {
  // Both return 3 * a * $x. The second program adds two partial products, so this is hard to prove.
  const Asked asked("ld [16]\nmul #$x\nmul #3\nret a",
                    "ld [20]\ntax\nld [16]\nand x\nmul #$x\nst M[0]\nld [20]\nxor #0xffffffff\n"
                    "tax\nld [16]\nand x\nmul #$x\nldx M[0]\nadd x\nmul #3\nret a");
  const dd::Limits few{.nodes = 1000, .steps = 1000};
  const auto diagrams = dd::prove(asked.question, few);
  ASSERT_TRUE(diagrams);
  EXPECT_EQ(diagrams->verdict, Verdict::kUnknown);
  EXPECT_FALSE(diagrams->detail.empty());
  for (const Engine::Kind engine : kEngines) {
    const auto proof = decide(asked.question, engine, {.timeout_seconds = 1e-9, .diagrams = few});
    ASSERT_TRUE(proof);
    EXPECT_EQ(proof->verdict, Verdict::kUnknown);
    EXPECT_FALSE(proof->detail.empty());
  }
}

TEST(SymbolProofs, TheSolverTakesOverIfDiagramsHaveTooManyNames) {
  std::string text = "ld [0]\n";
  for (int i = 0; i < 20; ++i) text += "add #$n" + std::to_string(i) + "\n";
  const Asked asked(text + "ret a", text + "add #0\nret a");
  const auto diagrams = dd::prove(asked.question);
  ASSERT_TRUE(diagrams);
  EXPECT_EQ(diagrams->verdict, Verdict::kUnknown);
  const Proof proof = proven(asked.question, Engine::kDd);
  EXPECT_EQ(proof.verdict, Verdict::kEquivalent);
  EXPECT_EQ(proof.engine, "sat");
}

bool may_have_a_name(const Insn& in) {
  const InsnInfo* info = insn_info(in.code);
  return info != nullptr && (info->operand == Operand::Imm || info->operand == Operand::CondImm);
}

// Returns a random program in which some numbers have one of three names.
SymbolicProgram random_symbolic(Random& random, std::size_t length) {
  SymbolicProgram out{random_program(random, length), {}};
  for (std::size_t pc = 0; pc < out.program.size(); ++pc) {
    if (!may_have_a_name(out.program[pc]) || random.one_in(2)) continue;
    out.program[pc].k = kPlaceholder;
    out.uses.push_back({pc, std::string(1, "abc"[random.below(3)]), "test"});
  }
  return out;
}

// Returns `program` unchanged, or with another name, a number in place of a name, or another
// instruction.
SymbolicProgram changed(SymbolicProgram program, Random& random) {
  if (!program.uses.empty() && !random.one_in(4)) {
    const std::size_t at = random.below(program.uses.size());
    SymbolUse& use = program.uses[at];
    if (random.one_in(3)) {
      program.program[use.pc].k = random.one_in(2) ? 1 : 2;
      program.uses.erase(program.uses.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      use.name = std::string(1, "abc"[random.below(3)]);
    }
  }
  if (random.one_in(3)) {
    // Replaces `ld #len` by the same constant, which changes no result.
    for (Insn& in : program.program)
      if (in.code == kLdLen) in = {kLdImm, 0, 0, kSeccompDataSize};
  }
  return program;
}

TEST(SymbolProofs, EnginesAgreeOnRandomPrograms) {
  Random random(3);
  int equivalent = 0;
  int different = 0;
  for (int i = 0; i < of_cases(1500); ++i) {
    const SymbolicProgram before = random_symbolic(random, random.between(2, 14));
    const Asked asked(before, changed(before, random));
    SCOPED_TRACE(fmt::format("{}\n{}\n{}", i, asm_text(asked.before.program),
                             asm_text(asked.after.program)));
    const auto diagrams = dd::prove(asked.question, {.nodes = 50'000, .steps = 100'000});
    ASSERT_TRUE(diagrams) << diagrams.error().text();
    // Z3 is slow, so it proves only every third pair.
    std::optional<Proof> solver;
    if (i % 3 == 0) {
      auto proof = smt::prove(asked.question, 2);
      ASSERT_TRUE(proof) << proof.error().text();
      solver = *proof;
    }
    if (solver && solver->verdict != Verdict::kUnknown && diagrams->verdict != Verdict::kUnknown) {
      ASSERT_EQ(solver->verdict, diagrams->verdict);
      if (solver->relation) ASSERT_EQ(solver->relation, diagrams->relation);
      if (solver->minimal && diagrams->minimal) {
        ASSERT_EQ(solver->symbols, diagrams->symbols);
        ASSERT_EQ(solver->witness->data, diagrams->witness->data);
      }
    }
    for (const Proof* proof :
         {&std::as_const(*diagrams), solver ? &std::as_const(*solver) : nullptr}) {
      if (proof == nullptr) continue;
      if (proof->verdict == Verdict::kDifferent) expect_true_witness(asked, *proof);
      if (proof->verdict == Verdict::kEquivalent) expect_same_for_many(asked, random, 12);
    }
    equivalent += diagrams->verdict == Verdict::kEquivalent ? 1 : 0;
    different += diagrams->verdict == Verdict::kDifferent ? 1 : 0;
  }
  EXPECT_GT(equivalent, of_cases(300));
  EXPECT_GT(different, of_cases(150));
}

}  // namespace
}  // namespace secequiv::decide_symbols_test
