#include "verify/decide/decide.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "verify/dd/engine.h"
#include "verify/dd/random_comparisons.h"
#include "verify/sat/solver.h"
#include "verify/smt/solver.h"

namespace secequiv::decide_decide_test {
namespace {

constexpr const char* kAbove4 = "ld [0]\njgt #4, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom5 = "ld [0]\njge #5, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kFrom6 = "ld [0]\njge #6, y, n\ny: ret #1\nn: ret #2\n";
constexpr const char* kProduct =
    "ld [16]\ntax\nld [24]\nmul x\njeq #6, y, n\ny: ret #1\nn: ret #2\n";

// Equal to kProduct, but the product walk does not show it.
constexpr const char* kExpanded =
    "ld [16]\ntax\nld [24]\nadd #1\nmul x\nsub x\njeq #6, y, n\ny: ret #1\nn: ret #2\n";

constexpr std::array kEngines = {Engine::kZ3, Engine::kDd, Engine::kBoth, Engine::kSat,
                                 Engine::kAll};

Proof decided(std::string_view before, std::string_view after, Engine engine) {
  const Pair pair{assemble(before), assemble(after), Sameness::kRaw};
  auto proof = decide(Question(pair), engine, {.timeout_seconds = 20});
  EXPECT_TRUE(proof) << (proof ? "" : proof.error().text());
  return proof ? *proof : Proof{};
}

TEST(Decide, NamesTheEngineThatDecided) {
  EXPECT_EQ(decided(kAbove4, kFrom5, Engine::kZ3).engine, "z3");
  EXPECT_EQ(decided(kAbove4, kFrom5, Engine::kDd).engine, "dd");
  EXPECT_EQ(decided(kAbove4, kFrom5, Engine::kBoth).engine, "dd and z3");
  EXPECT_EQ(decided(kAbove4, kFrom5, Engine::kSat).engine, "sat");
  for (const Engine::Kind engine : kEngines) {
    EXPECT_EQ(decided(kAbove4, kFrom5, engine).verdict, Verdict::kEquivalent);
    const Proof different = decided(kAbove4, kFrom6, engine);
    ASSERT_EQ(different.verdict, Verdict::kDifferent);
    EXPECT_EQ(different.witness->data.nr(), 5u);
  }
}

TEST(Decide, SolverTakesOverBeyondDiagramLimits) {
  const Budget tight{.timeout_seconds = 20, .diagrams = {.nodes = 100}};
  const Pair pair{assemble(kProduct), assemble("ret #2\n"), Sameness::kRaw};
  auto proof = decide(Question(pair), Engine::kDd, tight);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->engine, "sat");
  ASSERT_EQ(proof->verdict, Verdict::kDifferent);
}

TEST(Decide, TheWalkProvesEqualTermsBeyondDiagramLimits) {
  constexpr const char* kTwice =
      "ld [16]\ntax\nld [20]\nld [24]\nmul x\njeq #6, y, n\ny: ret #1\nn: ret #2\n";
  const Budget tight{.timeout_seconds = 20, .diagrams = {.nodes = 100}};
  for (const auto& [after, engine] : {std::pair(kTwice, "walk"), std::pair(kProduct, "identical")})
    for (const Engine::Kind kind : {Engine::kDd, Engine::kAll}) {
      const Pair pair{assemble(kProduct), assemble(after), Sameness::kRaw};
      const auto proof = decide(Question(pair), kind, tight);
      ASSERT_TRUE(proof);
      EXPECT_EQ(proof->verdict, Verdict::kEquivalent);
      EXPECT_EQ(proof->engine, engine);
    }
}

TEST(Decide, TheWalkAnswersOnlyQuestionsThatEqualDecisionsAnswer) {
  const Budget tight{.timeout_seconds = 20, .diagrams = {.nodes = 100}};
  const Program product = assemble(kProduct);
  const Program expanded = assemble(kExpanded);
  const Pair pair{product, product, Sameness::kBehaviour};
  Question refines(pair);
  refines.goal = Question::Goal::kRefines;
  const auto refined = decide(refines, Engine::kDd, tight);
  ASSERT_TRUE(refined);
  EXPECT_EQ(refined->engine, "identical");
  EXPECT_EQ(refined->relation, Relation::kEqual);
  // An assumption that no input meets is an error, not a proof.
  Question vacuous(pair);
  vacuous.assumption = *parse_assumption("nr < 0", Arch::kX86_64);
  EXPECT_FALSE(decide(vacuous, Engine::kDd, tight));
  // The walk compares single filters. In stacks, the order of filters does not matter.
  Question stacks(pair);
  stacks.before = {product, expanded};
  stacks.after = {expanded, product};
  const auto turned = decide(stacks, Engine::kDd, tight);
  ASSERT_TRUE(turned);
  EXPECT_EQ(turned->verdict, Verdict::kEquivalent);
  EXPECT_EQ(turned->engine, "sat");
}

TEST(Decide, BothEnginesMustProveEquivalence) {
  const Budget tight{.timeout_seconds = 20, .diagrams = {.nodes = 100}};
  const Pair same{assemble(kProduct), assemble(kProduct), Sameness::kRaw};
  auto proof = decide(Question(same), Engine::kBoth, tight);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->verdict, Verdict::kUnknown);
  EXPECT_NE(proof->detail.find("z3 alone answers 'equivalent'"), std::string::npos)
      << proof->detail;
  const Pair other{assemble(kProduct), assemble("ret #2\n"), Sameness::kRaw};
  proof = decide(Question(other), Engine::kBoth, tight);
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->verdict, Verdict::kDifferent);
}

Engine foreign(const std::string& command, Engine::Kind kind = Engine::kForeign) {
  Engine out = kind;
  out.solvers.push_back({command});
  return out;
}

TEST(Decide, EnginesThatGiveUpDoNotHideWhatInputsShow) {
  const Budget tight{.timeout_seconds = 20, .diagrams = {.nodes = 100}};
  const char* before =
      "ld [16]\ntax\nld [24]\nmul x\njeq #6, y, n\ny: ret #1\nn: ld [0]\njeq #9, y2, n2\ny2: ret "
      "#1\nn2: ret #2\n";
  std::string after = before;
  after.replace(after.find("jeq #9"), 6, "jeq #8");
  const Pair pair{assemble(before), assemble(after), Sameness::kRaw};
  for (const Engine& engine : {Engine(Engine::kDd), foreign("false"), foreign("echo unknown"),
                               foreign("sleep 1000", Engine::kAll)}) {
    const auto proof = decide(Question(pair), engine, tight);
    ASSERT_TRUE(proof) << proof.error().text();
    ASSERT_EQ(proof->verdict, Verdict::kDifferent);
    EXPECT_EQ(proof->engine, "inputs");
    EXPECT_TRUE(proof->minimal);
    SeccompData smallest{};
    smallest.words[0] = 8;
    EXPECT_EQ(proof->witness->data, smallest);
  }
  // The answer `unsat` contradicts the input that shows the difference.
  const auto wrong = decide(Question(pair), foreign("echo unsat"), tight);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInternal);
  EXPECT_NE(wrong.error().text().find("smt:echo unsat returns 'equivalent'"), std::string::npos);
}

// This pair exceeds the limit of the diagrams, and no derived input shows its difference.
TEST(Decide, AllEnginesRunUntilOneDecides) {
  const Budget budget{.timeout_seconds = 1000, .diagrams = {.nodes = 100}};
  const Pair same{assemble(kProduct), assemble(kExpanded), Sameness::kRaw};
  const auto proof = decide(Question(same), foreign("sleep 1000", Engine::kAll), budget);
  ASSERT_TRUE(proof) << proof.error().text();
  EXPECT_EQ(proof->verdict, Verdict::kEquivalent);
  EXPECT_NE(proof->engine, "smt:sleep 1000");
  const auto none = decide(Question(same), foreign("echo unknown", Engine::kAll),
                           {.timeout_seconds = 0, .diagrams = {.nodes = 100}});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->verdict, Verdict::kUnknown);
  for (const char* each : {"dd: ", "sat: ", "z3: ", "smt:echo unknown: "})
    EXPECT_NE(none->detail.find(each), std::string::npos) << none->detail;
}

TEST(Decide, LastSolverNamesTheTimeLimitAsGiven) {
  const Pair same{assemble(kProduct), assemble(kExpanded), Sameness::kRaw};
  for (const double limit : {0.001, 0.1, 0.3, 1.1}) {
    const Budget over{.timeout_seconds = limit, .diagrams = {.nodes = 100}, .spent_seconds = 5};
    const auto proof = decide(Question(same), Engine::kDd, over);
    ASSERT_TRUE(proof) << proof.error().text();
    EXPECT_EQ(proof->detail.find(fmt::format("time limit of {} s reached; ", limit)), 0u)
        << proof->detail;
  }
}

Question ask(const Pair& pair, std::string_view assumption,
             Question::Goal goal = Question::Goal::kSame) {
  Question question(pair);
  auto parsed = parse_assumption(assumption, Arch::kX86_64);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().text());
  if (parsed) question.assumption = *parsed;
  question.goal = goal;
  return question;
}

TEST(Decide, ComparesOnlyInputsThatMeetTheAssumption) {
  const Pair pair{assemble(kAbove4), assemble(kFrom6), Sameness::kRaw};
  for (const Engine::Kind engine : kEngines) {
    EXPECT_EQ(decide(ask(pair, "nr != 5"), engine, {})->verdict, Verdict::kEquivalent);
    EXPECT_EQ(decide(ask(pair, "arg0 > 0x1ffffffff"), engine, {})->witness->data.words[5], 2u);
    auto none = decide(ask(pair, "nr == 1 && nr == 2"), engine, {});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  }
}

TEST(Decide, RefinesMeansNeverMorePermissive) {
  const char* loose = "ld [0]\njeq #1, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n";
  const char* strict = "ld [0]\njeq #1, y, n\ny: ret #0x7ffc0000\nn: ret #0x50001\n";
  const char* data_only = "ld [0]\njeq #1, y, n\ny: ret #0x7fff0000\nn: ret #0x50002\n";
  const char* other = "ld [0]\njeq #1, y, n\ny: ret #0x50001\nn: ret #0x7fff0000\n";
  struct Case {
    const char* before;
    const char* after;
    Verdict verdict;
    Relation relation;
  };
  const Case cases[] = {{loose, loose, Verdict::kEquivalent, Relation::kEqual},
                        {loose, strict, Verdict::kPass, Relation::kStricter},
                        {strict, loose, Verdict::kDifferent, Relation::kLooser},
                        {loose, data_only, Verdict::kPass, Relation::kEqual},
                        {loose, other, Verdict::kDifferent, Relation::kIncomparable}};
  for (const Case& c : cases) {
    const Pair pair{assemble(c.before), assemble(c.after), Sameness::kRaw};
    for (const Engine::Kind engine : kEngines) {
      auto proof = decide(ask(pair, "true", Question::Goal::kRefines), engine, {});
      ASSERT_TRUE(proof) << proof.error().text();
      EXPECT_EQ(proof->verdict, c.verdict) << c.before << c.after;
      EXPECT_EQ(proof->relation, c.relation) << c.before << c.after;
      if (proof->witness)
        EXPECT_EQ(compare_actions(proof->witness->before, proof->witness->after),
                  Relation::kLooser);
    }
  }
}

TEST(Decide, MergedFilterEqualsItsStack) {
  const Program first = assemble("ld [0]\njeq #1, y, n\ny: ret #0x50001\nn: ret #0x7fff0000\n");
  const Program second = assemble("ld [0]\njeq #2, y, n\ny: ret #0x30000\nn: ret #0x7fff0000\n");
  const Program merged =
      assemble("ld [0]\njeq #1, e\njeq #2, t\nret #0x7fff0000\ne: ret #0x50001\nt: ret #0x30000\n");
  Question question;
  question.before = {first, second};
  question.after = {merged};
  for (const Engine::Kind engine : kEngines) {
    EXPECT_EQ(decide(question, engine, {})->verdict, Verdict::kEquivalent);
    Question alone = question;
    alone.before = {first};
    const auto proof = decide(alone, engine, {});
    ASSERT_EQ(proof->verdict, Verdict::kDifferent);
    EXPECT_EQ(proof->relation, Relation::kStricter);
    EXPECT_EQ(proof->witness->data.nr(), 2u);
  }
}

// Stacks have one to three related programs, which return actions that Linux knows. One of several
// assumptions applies.
TEST(Engines, AgreeOnStacksAndAssumptions) {
  constexpr std::uint32_t kActions[] = {0x80000000, 0,          0x00030005, 0x00050001,
                                        0x0005ffff, 0x7ff00003, 0x7fff0000, 0x12340000};
  constexpr const char* kAssumptions[] = {
      "true", "nr < 8", "arch != 0 && arg0 in {0..7, 0x100000000}", "arg0 & 3 == 1 || nr == 2"};
  Random random(26);
  int decided[4] = {};
  for (int i = 0; i < of_cases(400); ++i) {
    std::vector<Program> programs;
    for (std::size_t count = random.between(2, 4); count > 0; --count) {
      Program program = random.one_in(2) && !programs.empty()
                            ? programs.front()
                            : dd::comparing_program(random, random.between(2, 12));
      for (Insn& in : program)
        if (in.code == kRetK && (programs.empty() || random.one_in(6)))
          in.k = kActions[random.below(std::size(kActions))];
      programs.push_back(std::move(program));
    }
    const std::vector<ProgramView> views(programs.begin(), programs.end());
    const std::size_t split = random.between(1, views.size() - 1);
    Question question;
    question.before.assign(views.begin(), views.begin() + static_cast<std::ptrdiff_t>(split));
    question.after.assign(views.begin() + static_cast<std::ptrdiff_t>(split), views.end());
    question.sameness = random.one_in(2) ? Sameness::kRaw : Sameness::kBehaviour;
    question.goal = random.one_in(2) ? Question::Goal::kSame : Question::Goal::kRefines;
    question.assumption =
        *parse_assumption(kAssumptions[random.below(std::size(kAssumptions))], Arch::kX86_64);
    auto mine = dd::prove(question);
    auto theirs = smt::prove(question, 20);
    auto third = sat::prove(question, 20);
    ASSERT_TRUE(mine) << mine.error().text();
    ASSERT_TRUE(theirs) << theirs.error().text();
    ASSERT_TRUE(third) << third.error().text();
    ASSERT_EQ(mine->verdict, theirs->verdict) << describe(question.assumption);
    ASSERT_EQ(mine->relation, theirs->relation);
    ASSERT_EQ(mine->verdict, third->verdict) << describe(question.assumption);
    ASSERT_EQ(mine->relation, third->relation);
    if (i % 10 == 0) {
      const auto first = decide(question, Engine::kAll, {.timeout_seconds = 20});
      ASSERT_TRUE(first) << first.error().text();
      ASSERT_EQ(mine->verdict, first->verdict) << describe(question.assumption);
    }
    ++decided[static_cast<int>(mine->relation.value())];
    if (mine->witness) ASSERT_EQ(mine->witness->data, theirs->witness->data);
  }
  for (const int count : decided) EXPECT_GE(count, of_cases(20));
}

TEST(Engines, AgreeOnMutants) {
  Random random(22);
  int equivalent = 0;
  int different = 0;
  for (int i = 0; i < of_cases(1200); ++i) {
    // Half of the programs may contain any instruction.
    const Program before = i % 2 == 0 ? dd::comparing_program(random, random.between(2, 30))
                                      : random_program(random, random.between(1, 20));
    Program after = before;
    for (std::size_t changes = random.between(1, 2); changes > 0; --changes) {
      Insn& in = after[random.below(after.size())];
      if (in.code == kLdWAbs || is_jump(in) != is_conditional(in)) continue;
      in.k ^= 1u << random.below(32);
    }
    if (refusal_of(after)) continue;
    const Pair pair{before, after, Sameness::kRaw};
    auto mine = dd::prove(pair, {.nodes = 100'000, .steps = 500'000});
    ASSERT_TRUE(mine) << mine.error().text();
    if (mine->verdict == Verdict::kUnknown) continue;
    auto theirs = smt::prove(pair, 5);
    ASSERT_TRUE(theirs);
    if (theirs->verdict == Verdict::kUnknown) continue;
    ASSERT_EQ(mine->verdict, theirs->verdict) << asm_text(before) << "\n" << asm_text(after);
    auto third = sat::prove(pair, 20);
    ASSERT_TRUE(third) << third.error().text();
    ASSERT_EQ(mine->verdict, third->verdict) << asm_text(before) << "\n" << asm_text(after);
    equivalent += mine->verdict == Verdict::kEquivalent;
    different += mine->verdict == Verdict::kDifferent;
    if (mine->verdict != Verdict::kDifferent || !theirs->minimal) continue;
    ASSERT_TRUE(mine->minimal);
    ASSERT_EQ(mine->witness->data, theirs->witness->data) << asm_text(before) << "\n"
                                                          << asm_text(after);
  }
  EXPECT_GE(equivalent, of_cases(50));
  EXPECT_GE(different, of_cases(50));
}

}  // namespace
}  // namespace secequiv::decide_decide_test
