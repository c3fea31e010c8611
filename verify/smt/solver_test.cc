#include "verify/smt/solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "harness/optimize/optimizer.h"
#include "harness/seccomp/arch.h"
#include "verify/smt/domain.h"

namespace secequiv::smt::solver_test {
namespace {

Proof prove_text(std::string_view before, std::string_view after,
                 Sameness sameness = Sameness::kRaw, double timeout = 30) {
  auto proof = prove(Pair{assemble(before), assemble(after), sameness}, timeout);
  EXPECT_TRUE(proof) << (proof ? "" : proof.error().text());
  return proof ? *proof : Proof{};
}

SeccompData words(std::initializer_list<std::pair<std::uint32_t, std::uint32_t>> set) {
  SeccompData data;
  for (const auto& [word, value] : set) data.words[word] = value;
  return data;
}

TEST(Prove, ProvesEquivalentForms) {
  const auto proof = prove_text("ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n",
                                "ld [0]\njge #5, y, n\nn: ret #2\ny: ret #1\n");
  EXPECT_EQ(proof.verdict, Verdict::kEquivalent);
  EXPECT_FALSE(proof.witness);
}

TEST(Prove, WitnessIsTheSmallest) {
  // The programs differ if nr >= 0x100 and the low half of args[2] is 7. The smallest such nr is
  // 0x100.
  const auto proof = prove_text(
      "ret #1\n", "ld [0]\njlt #0x100, n\nld [32]\njeq #7, y, n\ny: ret #2\nn: ret #1\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_TRUE(proof.minimal);
  EXPECT_EQ(proof.witness->data, words({{0, 0x100}, {8, 7}}));
  EXPECT_EQ(proof.witness->before, 1u);
  EXPECT_EQ(proof.witness->after, 2u);
}

TEST(Prove, PrefersFewNonZeroWordsToSmallValues) {
  // Either words 4 and 5 are both 1, or word 6 alone is 0xffffffff. The single word is preferred.
  const auto proof = prove_text(
      "ret #0\n",
      "ld [24]\njeq #0xffffffff, y, n\nn: ld [16]\njeq #1, m, r\nm: ld [20]\njeq #1, y, r\n"
      "y: ret #1\nr: ret #0\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data, words({{6, 0xffffffff}}));
}

TEST(Prove, FindsSingleDifferingInput) {
  std::string after;
  SeccompData point;
  for (std::uint32_t word = 0; word < 16; ++word) {
    point.words[word] = 0x9e3779b9u * (word + 1);
    after += "ld [" + std::to_string(word * 4) + "]\njne #" + std::to_string(point.words[word]) +
             ", same\n";
  }
  const auto proof = prove_text("ret #1\n", after + "ret #2\nsame: ret #1\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data, point);
}

TEST(Prove, FindsADifferenceInOneBitOfTheInstructionPointer) {
  const auto proof =
      prove_text("ret #1\n", "ld [12]\njset #0x80000000, y, n\ny: ret #2\nn: ret #1\n");
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_EQ(proof.witness->data, words({{3, 0x80000000}}));
}

TEST(Prove, BehaviourIgnoresUnobservableBits) {
  const char* plain = "ret #0x7fff0000\n";
  const char* data = "ret #0x7fff1234\n";
  EXPECT_EQ(prove_text(plain, data).verdict, Verdict::kDifferent);
  EXPECT_EQ(prove_text(plain, data, Sameness::kBehaviour).verdict, Verdict::kEquivalent);
  // The kernel ignores the cleared bits for some actions only, so these programs differ.
  const auto proof =
      prove_text("ld [16]\nret a\n", "ld [16]\nand #0xffff0fff\nret a\n", Sameness::kBehaviour);
  ASSERT_EQ(proof.verdict, Verdict::kDifferent);
  EXPECT_FALSE(same_decision(proof.witness->before, proof.witness->after, Sameness::kBehaviour));
}

TEST(Prove, ProvesAnAlgebraicLawOfEveryOperation) {
  const std::pair<const char*, const char*> laws[] = {
      {"ld [16]\nadd #3\nsub #3\nret a\n", "ld [16]\nret a\n"},
      {"ld [16]\nmul #8\nret a\n", "ld [16]\nlsh #3\nret a\n"},
      {"ld [16]\ndiv #8\nret a\n", "ld [16]\nrsh #3\nret a\n"},
      {"ld [16]\nneg\nret a\n", "ld [16]\ntax\nld #0\nsub x\nret a\n"},
      {"ld [16]\nxor #0xffffffff\nadd #1\nret a\n", "ld [16]\nneg\nret a\n"},
      {"ld [16]\ntax\nld [20]\nand x\nst M[1]\nld [20]\nor x\nldx M[1]\nadd x\nret a\n",
       "ld [16]\ntax\nld [20]\nadd x\nret a\n"},
      {"ld #len\nret a\n", "ret #64\n"},
      {"ldx #len\ntxa\nret a\n", "ret #64\n"},
      {"ld [16]\ntax\nld #100\ndiv x\nret a\n",
       "ld [16]\njeq #0, z, n\nz: ret #0\nn: tax\nld #100\ndiv x\nret a\n"},
      {"ldx #33\nld [16]\nlsh x\nret a\n", "ld [16]\nlsh #1\nret a\n"},
      {"ldx #63\nld [16]\nrsh x\nret a\n", "ld [16]\nrsh #31\nret a\n"},
  };
  for (const auto& [before, after] : laws)
    EXPECT_EQ(prove_text(before, after).verdict, Verdict::kEquivalent) << before << after;
}

TEST(Prove, JoinsKeepRegistersOfEachPath) {
  const char* joined =
      "ld [0]\njeq #1, one, two\none: ldx #10\nja both\ntwo: ldx #20\nboth: txa\nret a\n";
  EXPECT_EQ(prove_text(joined, "ld [0]\njeq #1, one, two\none: ret #10\ntwo: ret #20\n").verdict,
            Verdict::kEquivalent);
  EXPECT_EQ(prove_text(joined, "ret #20\n").verdict, Verdict::kDifferent);
}

TEST(Prove, TimeLimitGivesUnknownPromptly) {
  // The programs compute x * y and (x & y) * (x | y) + (x & ~y) * (~x & y).
  const char* left = "ld [16]\ntax\nld [20]\nmul x\nret a\n";
  const char* right =
      "ld [16]\ntax\nld [20]\nand x\nst M[0]\nld [20]\nor x\nldx M[0]\nmul x\nst M[1]\nld "
      "[16]\ntax\nld [20]\nxor #0xffffffff\nand x\nst M[2]\nld [16]\nxor #0xffffffff\ntax\nld "
      "[20]\nand x\nldx M[2]\nmul x\nldx M[1]\nadd x\nret a\n";
  const auto start = std::chrono::steady_clock::now();
  const auto proof = prove_text(left, right, Sameness::kRaw, 0.3);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(proof.verdict, Verdict::kUnknown);
  EXPECT_NE(proof.detail.find("time limit"), std::string::npos) << proof.detail;
  EXPECT_LT(seconds, 20);
}

TEST(Prove, RandomProgramsEqualTheirOptimizedForms) {
  Random random(11);
  int proven = 0;
  for (int i = 0; i < 150; ++i) {
    const Program before = random_program(random, random.between(1, 40));
    auto proof = prove(Pair{before, optimize(before).program, Sameness::kRaw}, 5);
    ASSERT_TRUE(proof);
    ASSERT_NE(proof->verdict, Verdict::kDifferent) << asm_text(before);
    proven += proof->verdict == Verdict::kEquivalent;
  }
  EXPECT_GE(proven, 140);
}

TEST(Prove, NeverCallsAVisibleDifferenceEquivalent) {
  Random random(12);
  int different = 0;
  for (int i = 0; i < of_cases(500); ++i) {
    const Program before = random_program(random, random.between(2, 24));
    Program after = before;
    after[random.below(after.size())].k ^= 1u << random.below(32);
    if (refusal_of(after, LengthRule::kUnlimited)) continue;
    const Pair pair{before, after, Sameness::kRaw};
    auto proof = prove(pair, 5);
    ASSERT_TRUE(proof);
    different += proof->verdict == Verdict::kDifferent;
    if (proof->verdict != Verdict::kEquivalent) continue;
    for (const SeccompData& input : random_inputs(random, before, 300))
      ASSERT_FALSE(replay(pair, input)) << asm_text(before) << "\n" << asm_text(after);
  }
  EXPECT_GE(different, of_cases(30));
}

TEST(Terms, EncodingAgreesWithTheInterpreter) {
  Random random(13);
  for (int i = 0; i < 300; ++i) {
    const Program program = random_program(random, random.between(1, 40));
    Terms terms;
    Z3_ast result = run_symbolic(terms, program).result;
    std::array<Z3_ast, 16> from{};
    for (std::uint32_t word = 0; word < 16; ++word) from[word] = terms.input(word);
    for (const SeccompData& input : random_inputs(random, program, 4)) {
      std::array<Z3_ast, 16> to{};
      for (std::uint32_t word = 0; word < 16; ++word) to[word] = terms.constant(input.words[word]);
      Z3_ast value = Z3_simplify(
          terms.context(), Z3_substitute(terms.context(), result, 16, from.data(), to.data()));
      std::uint64_t number = 0;
      ASSERT_TRUE(Z3_get_numeral_uint64(terms.context(), value, &number));
      ASSERT_EQ(number, run(program, input)) << asm_text(program);
    }
  }
}

TEST(Terms, NormalizationAgreesWithBehaviourOf) {
  Random random(14);
  Terms terms;
  std::vector<std::uint32_t> values = {0,          1,       0x50000,    0x50fff,    0x51000,
                                       0x5ffff,    0x60000, 0x7fc00001, 0x7fff0001, 0x80000001,
                                       0xffffffff, 0x30007, 0x7ff00009, 0x7ffc0001};
  for (int i = 0; i < 300; ++i) values.push_back(random.word());
  for (const std::uint32_t value : values) {
    Z3_ast term = normalize_symbolic(terms, terms.constant(value), Sameness::kBehaviour);
    std::uint64_t number = 0;
    ASSERT_TRUE(
        Z3_get_numeral_uint64(terms.context(), Z3_simplify(terms.context(), term), &number));
    EXPECT_EQ(number, behaviour_of(value)) << value;
  }
}

TEST(FeasibilityDecider, AgreesWithRuns) {
  Random random(15);
  int infeasible = 0;
  int feasible = 0;
  for (int i = 0; i < 60; ++i) {
    const Program program = random_program(random, random.between(3, 30));
    CoverageMap coverage(program);
    for (const SeccompData& input : random_inputs(random, program, 500)) coverage.run(input);
    FeasibilityDecider oracle(program);
    for (const Obligation& obligation : coverage.obligations()) {
      auto answer = oracle.query(obligation, 5);
      ASSERT_TRUE(answer) << answer.error().text();
      if (answer->answer == Feasibility::Answer::kInfeasible) {
        ++infeasible;
        ASSERT_FALSE(coverage.covered(obligation)) << describe(obligation, program) << "\n"
                                                   << asm_text(program);
      }
      feasible += answer->answer == Feasibility::Answer::kFeasible;
    }
  }
  EXPECT_GE(infeasible, 50);
  EXPECT_GE(feasible, 300);
}

TEST(FeasibilityDecider, ContradictingTestsAreInfeasible) {
  const Program program =
      assemble("ld [0]\njgt #5, big, end\nbig: jeq #3, never, end\nnever: ret #1\nend: ret #0\n");
  FeasibilityDecider oracle(program);
  EXPECT_EQ(oracle.query({3, Obligation::Kind::kLine}, 5)->answer,
            Feasibility::Answer::kInfeasible);
  EXPECT_EQ(oracle.query({2, Obligation::Kind::kTrue}, 5)->answer,
            Feasibility::Answer::kInfeasible);
  EXPECT_EQ(oracle.query({2, Obligation::Kind::kFalse}, 5)->answer, Feasibility::Answer::kFeasible);
}

TEST(FeasibilityDecider, DecidesBothOutcomesOfDivisionByX) {
  const Program program = assemble("ld [16]\nor #1\ntax\nld #9\ndiv x\nret a\n");
  FeasibilityDecider oracle(program);
  EXPECT_EQ(oracle.query({4, Obligation::Kind::kTrue}, 5)->answer,
            Feasibility::Answer::kInfeasible);
  EXPECT_EQ(oracle.query({4, Obligation::Kind::kFalse}, 5)->answer, Feasibility::Answer::kFeasible);
}

TEST(EmitSmt2, ProducesACompleteQuery) {
  const Pair pair{assemble("ld [0]\nret a\n"), assemble("ret #0\n"), Sameness::kRaw};
  const std::string text = smt2(Question(pair));
  EXPECT_NE(text.find("(set-logic QF_BV)"), std::string::npos);
  EXPECT_NE(text.find("word0"), std::string::npos);
  EXPECT_NE(text.find("(check-sat)"), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '('), std::ranges::count(text, ')'));
}

// Returns Z3's answer to the query, without a model.
std::string answer(const std::string& query) {
  Terms terms;
  return Z3_eval_smtlib2_string(terms.context(),
                                query.substr(0, query.find("(get-model)")).c_str());
}

TEST(EmitSmt2, TheQueryContainsTheAssumption) {
  const Pair pair{assemble("ld [0]\nret a\n"), assemble("ret #7\n"), Sameness::kRaw};
  Question question(pair);
  EXPECT_EQ(answer(smt2(question)), "sat\n");
  question.assumption = *parse_assumption("nr == 7", Arch::kX86_64);
  EXPECT_EQ(answer(smt2(question)), "unsat\n");
}

}  // namespace
}  // namespace secequiv::smt::solver_test
