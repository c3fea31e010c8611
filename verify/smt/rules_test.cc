#include "verify/smt/rules.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "harness/base/file.h"
#include "harness/base/random.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/bpf/text.h"
#include "harness/optimize/pass.h"
#include "verify/rules/whole.h"
#include "verify/smt/rule_terms.h"
#include "verify/smt/session.h"

namespace secequiv::smt::rules_test {
namespace {

using rules::Deviation;
using rules::Instance;
using rules::Rewrite;

Rewrite one_rule(const std::string& text) {
  auto parsed = rules::parse_rules(text, "t.rule");
  if (!parsed) {
    ADD_FAILURE() << parsed.error().text() << "\n" << text;
    return {};
  }
  return std::move(parsed->front());
}

std::vector<Rewrite> library() {
  std::vector<Rewrite> out;
  for (const auto& file :
       std::filesystem::directory_iterator(SECEQUIV_SOURCE_DIR "/verify/rules/library")) {
    auto text = read_file(file.path().string());
    auto parsed = rules::parse_rules(*text, file.path().filename().string());
    if (!parsed) {
      ADD_FAILURE() << parsed.error().text();
      continue;
    }
    for (Rewrite& rule : *parsed) out.push_back(std::move(rule));
  }
  return out;
}

TEST(RuleProofs, LibraryMatchesItsExpectations) {
  std::set<std::string> names;
  std::size_t wrong = 0;
  for (const Rewrite& rule : library()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name << " is defined twice";
    const auto proof = prove_rule(rule, 60);
    ASSERT_TRUE(proof) << proof.error().text();
    EXPECT_NE(proof->verdict, Verdict::kUnknown) << rule.name << ": " << proof->detail;
    const Deviation found = proof->counterexample ? proof->counterexample->kind : Deviation::kNone;
    EXPECT_EQ(rules::deviation_name(found), rules::deviation_name(rule.expected)) << rule.name;
    EXPECT_EQ(rule.expected != Deviation::kNone, rule.name.starts_with("wrong-")) << rule.name;
    wrong += rule.expected != Deviation::kNone ? 1 : 0;
  }
  EXPECT_GE(wrong, 20u);
}

TEST(RuleProofs, LibraryContainsEveryPassOfTheOptimizer) {
  std::set<std::string> names;
  for (const Rewrite& rule : library()) names.insert(rule.name.substr(0, rule.name.find('.')));
  std::size_t passes = 0;
  for (const Pass& pass : all_passes()) {
    EXPECT_TRUE(names.contains(std::string(pass.name))) << pass.name;
    ++passes;
  }
  EXPECT_GE(passes, 30u);
}

// Returns a value near a limit, or any value.
std::uint32_t some_word(Random& random) {
  constexpr std::uint32_t kWords[] = {0, 1, 2, 3, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff};
  return random.one_in(3) ? random.word() : random.pick(kWords);
}

rules::Assignment some_assignment(Random& random, const Instance& instance) {
  rules::Assignment out;
  for (const rules::Symbol& symbol : instance.symbols) {
    const bool truth = symbol.width == rules::kTruth;
    out.symbols.push_back(symbol.role == rules::Role::kOffset  ? random.word() % 16 * 4
                          : symbol.role == rules::Role::kIndex ? random.word() % 16
                          : truth                              ? random.word() % 2
                                                               : some_word(random));
  }
  out.entry.a = some_word(random);
  out.entry.x = some_word(random);
  for (std::uint32_t& word : out.entry.m) word = some_word(random);
  for (std::uint32_t& word : out.input.words) word = some_word(random);
  return out;
}

// Returns a few instructions over two symbols, with the exits `yes` and `no`.
std::vector<std::string> some_code(Random& random) {
  constexpr const char* kPlain[] = {
      "ld [$o]",  "ld [0]",   "ld #$a",   "ldx #$b",       "add #$a", "sub x",          "and #$b",
      "or #$a",   "xor x",    "tax",      "txa",           "neg",     "lsh #$a",        "rsh x",
      "st M[$i]", "ld M[$i]", "ldx M[1]", "stx M[1]",      "div #$b", "and #($a & $b)", "div x",
      "ret #$a",  "ret a",    "ld #len",  "add #($a - $b)"};
  constexpr const char* kJumps[] = {"jeq #$a, yes, no",  "jgt #$b, yes, no", "jge x, yes, no",
                                    "jset #$a, yes, no", "jset x, yes, no",  "ja no"};
  std::vector<std::string> out;
  const std::size_t length = random.between(1, 4);
  for (std::size_t i = 0; i < length; ++i)
    out.emplace_back(random.one_in(8) ? random.pick(kJumps) : random.pick(kPlain));
  if (random.one_in(2)) out.emplace_back(random.pick(kJumps));
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// A proven rule must hold for random values. (The prover itself replays counterexamples.) The two
// sides of a rule differ by one instruction that is moved, changed or removed.
TEST(RuleProofs, ProvenRulesHoldForRandomValues) {
  Random random(5);
  std::size_t proven = 0;
  std::size_t refuted = 0;
  for (int i = 0; i < of_cases(300); ++i) {
    const auto before = some_code(random);
    auto after = before;
    switch (random.below(4)) {
      case 0:
        after.erase(after.begin() + static_cast<std::ptrdiff_t>(random.below(after.size())));
        break;
      case 1:
        std::swap(after[random.below(after.size())], after[random.below(after.size())]);
        break;
      case 2:
        after[random.below(after.size())] = some_code(random).front();
        break;
      default:
        after.insert(after.begin() + static_cast<std::ptrdiff_t>(random.below(after.size())),
                     some_code(random).front());
    }
    constexpr const char* kLive[] = {"live: A\n", "live: none\n", "live: X, M[1]\n", "",
                                     "live: M\n"};
    constexpr const char* kWhere[] = {"", "where: $a & $b == 0\n", "where: $a <u $b\n",
                                      "where: A == [$o]\n", "where: popcount($a) == 1\n"};
    const std::string text = fmt::format("rule t\n{}{}before:\n{}after:\n{}", random.pick(kLive),
                                         random.pick(kWhere), joined(before), joined(after));
    const Rewrite rule = one_rule(text);
    const auto proof = prove_rule(rule, 20);
    ASSERT_TRUE(proof) << proof.error().text() << "\n" << text;
    ASSERT_NE(proof->verdict, Verdict::kUnknown) << text;
    if (proof->verdict == Verdict::kDifferent) {
      ++refuted;
      continue;
    }
    ++proven;
    const auto members = rules::instances(rule);
    for (int j = 0; j < 200; ++j) {
      const auto found = rules::replay(members->front(), some_assignment(random, members->front()));
      ASSERT_FALSE(found) << text << rules::deviation_name(found->kind) << " " << found->refusal;
    }
  }
  EXPECT_GT(proven, static_cast<std::size_t>(of_cases(300)) / 10);
  EXPECT_GT(refuted, static_cast<std::size_t>(of_cases(300)) / 4);
}

// Both evaluations of expressions must agree: terms with the solver's values, and numbers.
TEST(RuleProofs, SymbolicAndNumericEvaluationAgree) {
  Random random(6);
  const auto word = [&](const auto& self, int depth) -> std::string {
    if (depth == 0) {
      constexpr const char* kLeaves[] = {"$a",  "$b",    "A",    "X",          "M[3]",
                                         "[8]", "0",     "1",    "0xffffffff", "31",
                                         "32",  "M[$i]", "[$o]", "0x80000000"};
      return random.pick(kLeaves);
    }
    const std::string left = self(self, depth - 1);
    const std::string right = self(self, depth - 1);
    constexpr const char* kBinary[] = {"|", "^", "&", "<<", ">>", "+", "-", "*", "/"};
    switch (random.below(5)) {
      case 0:
        return fmt::format("popcount({})", left);
      case 1:
        return fmt::format("(~{})", left);
      case 2:
        return fmt::format("if({} <s {}, -{}, {})", left, right, left, right);
      default:
        return fmt::format("({} {} {})", left, random.pick(kBinary), right);
    }
  };
  for (int i = 0; i < of_cases(300); ++i) {
    constexpr const char* kTests[] = {"==", "!=", "<u", "<=u", ">s", ">=s"};
    const std::string a = word(word, 2);
    const std::string b = word(word, 2);
    const bool wide = random.one_in(3);
    const std::string condition =
        wide ? fmt::format("wide({}, {}) {} wide({}, {}) - 1", a, b, random.pick(kTests), b, a)
             : fmt::format("{} {} {}", a, random.pick(kTests), b);
    const Rewrite rule = one_rule(fmt::format(
        "rule t\nbefore: ({}) || [$o] == 0 && M[$i] == 0 && $a == $b\nafter: true\n", condition));
    const auto members = rules::instances(rule);
    ASSERT_TRUE(members);
    const Instance& instance = members->front();
    const auto& expr = std::get<rules::Expr>(instance.before);
    RuleTerms terms;
    Z3_context c = terms.context();
    Z3_ast term = rules::evaluate(terms, expr);
    std::vector<Z3_ast> from = terms.variables(instance);
    for (int j = 0; j < 20; ++j) {
      const rules::Assignment values = some_assignment(random, instance);
      std::vector<std::uint32_t> numbers = values.symbols;
      numbers.push_back(values.entry.a);
      numbers.push_back(values.entry.x);
      numbers.insert(numbers.end(), values.entry.m.begin(), values.entry.m.end());
      numbers.insert(numbers.end(), values.input.words.begin(), values.input.words.end());
      ASSERT_EQ(numbers.size(), from.size());
      std::vector<Z3_ast> to;
      for (const std::uint32_t number : numbers) to.push_back(terms.constant(number));
      Z3_ast folded = Z3_simplify(
          c, Z3_substitute(c, term, static_cast<unsigned>(from.size()), from.data(), to.data()));
      const bool expected = rules::value_of(expr, instance, values) != 0;
      ASSERT_EQ(Z3_get_bool_value(c, folded), expected ? Z3_L_TRUE : Z3_L_FALSE) << condition;
    }
  }
}

TEST(RuleProofs, UnsatisfiableConditionsAreErrors) {
  const auto proof = prove_rule(
      one_rule("rule t\nwhere: $a <u $b && $b <u $a\nbefore:\nld #$a\nafter:\nld #$b\n"), 10);
  ASSERT_FALSE(proof);
  EXPECT_EQ(proof.error().code, ErrorCode::kPolicy);
  const auto illegal =
      prove_rule(one_rule("rule t\nwhere: $s >u 31\nbefore:\nlsh #$s\nafter:\nld #1\n"), 10);
  EXPECT_FALSE(illegal);
}

TEST(RuleProofs, TimeLimitGivesUnknown) {
  // To decide this, Z3 would have to factor a number.
  const Rewrite hard = one_rule(
      "rule t\nwhere: $a >u 1 && $b >u 1 && $c >u 1\n"
      "before: wide(0, $a) * wide(0, $b) * wide(0, $c) == 0x7fffffffffffffe7\nafter: false\n");
  const auto proof = prove_rule(hard, 0.05);
  ASSERT_TRUE(proof) << proof.error().text();
  EXPECT_EQ(proof->verdict, Verdict::kUnknown);
  EXPECT_NE(proof->detail.find("0.05"), std::string::npos) << proof->detail;
  const auto weakest = weakest_condition(hard, 0.05);
  ASSERT_TRUE(weakest);
  EXPECT_EQ(weakest->verdict, Verdict::kUnknown);
}

TEST(RuleProofs, CounterexamplesAreSmall) {
  const auto proof = prove_rule(
      one_rule("rule t\nbefore:\nadd #$a\njeq #$b, yes, no\nafter:\nadd #$b\njeq #$a, yes, no\n"),
      10);
  ASSERT_TRUE(proof);
  ASSERT_TRUE(proof->counterexample);
  EXPECT_EQ(proof->counterexample->kind, Deviation::kExit);
  const auto& values = proof->counterexample->assignment;
  EXPECT_EQ(values.entry.x, 0u);
  EXPECT_EQ(values.symbols, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(values.entry.a, 1u);
}

TEST(WeakestCondition, FindsConditionsOfKnownRules) {
  const struct {
    const char* text;
    std::vector<std::string> any_of;
    bool exact;
  } cases[] = {
      {"live: none\nbefore:\nand #$m\njeq #$m, yes, no\nafter:\njset #$m, yes, no\n",
       {"popcount($m) == 1"},
       true},
      {"before:\nst M[$i]\nstx M[$j]\nafter:\nstx M[$j]\nst M[$i]\n", {"$i != $j"}, true},
      {"before:\njgt #$k, yes, no\nafter:\njge #($k + 1), yes, no\n", {"$k != 0xffffffff"}, true},
      {"before:\nadd #$a\nafter:\nadd #$b\n", {"$a == $b"}, true},
      {"before:\nadd #$a\nsub #$a\nafter:\n", {"true"}, true},
      {"before:\njset #$a, yes, no\nafter:\njset #($a & $b), yes, no\n", {"$a & ~$b == 0"}, true},
      {"before:\nld #1\nafter:\nld #2\n", {}, true},
      {"before: any i < 2: $P[i]\nafter: $P[1]\n", {"!$P[0]", "$P[1]"}, true},
      // This rule is right only if $k is 4, which no condition of the vocabulary expresses.
      {"live: A\nwhere: A == 3\nbefore:\nadd #$k\nafter:\nld #7\n", {}, false},
  };
  for (const auto& each : cases) {
    const auto weakest = weakest_condition(one_rule("rule t\n" + std::string(each.text)), 60);
    ASSERT_TRUE(weakest) << weakest.error().text();
    EXPECT_EQ(weakest->any_of, each.any_of) << each.text;
    EXPECT_EQ(weakest->exact,
              each.exact ? WeakestCondition::Exact::kYes : WeakestCondition::Exact::kNo)
        << each.text;
    EXPECT_EQ(weakest->verdict, each.any_of.empty() ? Verdict::kDifferent : Verdict::kEquivalent);
    if (!each.exact) EXPECT_EQ(weakest->outside, std::vector<std::uint32_t>{4});
  }
  EXPECT_FALSE(weakest_condition(
      one_rule("rule t\nfor: n in 0..2\nbefore: all i < n: $P[i]\nafter: true\n"), 10));
}

TEST(RuleProofs, AnInterruptedSolverGivesNoModel) {
  Terms terms{{}};
  Solver solver(terms);
  solver.require(terms.eq(terms.bit_and(terms.input(0), terms.input(1)), terms.constant(5)));
  ASSERT_EQ(solver.check(), Z3_L_TRUE);
  const auto model = solver.model();
  ASSERT_TRUE(model);
  EXPECT_EQ(model->words[0] & model->words[1], 5u);
  Z3_interrupt(terms.context());
  EXPECT_FALSE(solver.model());
}

// If a limit interrupts Z3 while the prover reads a model, the prover must not use the incomplete
// model.
TEST(RuleProofs, ALimitWhileMinimizingIsNotAnError) {
  auto text = read_file(SECEQUIV_SOURCE_DIR "/corpus/regress/rules/shrunk-until-the-limit.rule");
  ASSERT_TRUE(text);
  const Rewrite rule = one_rule(*text);
  const auto whole = prove_rule(rule, 60);
  ASSERT_TRUE(whole && whole->counterexample);
  EXPECT_EQ(whole->counterexample->kind, Deviation::kState);
  for (const double part : {0.2, 0.5, 0.7, 0.8, 0.9}) {
    const auto proof = prove_rule(rule, whole->seconds * part);
    ASSERT_TRUE(proof) << part << ": " << proof.error().text();
    EXPECT_EQ(proof->verdict, proof->counterexample ? Verdict::kDifferent : Verdict::kUnknown);
  }
}

TEST(RuleProofs, ProvenRulesGiveEquivalentPrograms) {
  Random random(8);
  for (const Rewrite& rule : library()) {
    if (rule.expected != Deviation::kNone || !rule.family.empty()) continue;
    const auto members = rules::instances(rule);
    ASSERT_TRUE(members);
    if (!rules::no_programs(members->front()).empty()) continue;
    const auto some = some_assignments(members->front(), 4, 9, 30);
    ASSERT_TRUE(some);
    ASSERT_FALSE(some->empty()) << rule.name;
    std::set<std::vector<std::uint32_t>> different;
    for (const auto& assignment : *some) {
      different.insert(assignment.symbols);
      EXPECT_FALSE(rules::replay(members->front(), assignment));
      const auto [before, after] = rules::whole_programs(members->front(), assignment);
      ASSERT_FALSE(refusal_of(before)) << rule.name << "\n" << write_program(before, Form::kAsm);
      ASSERT_FALSE(refusal_of(after)) << rule.name << "\n" << write_program(after, Form::kAsm);
      for (int i = 0; i < 50; ++i) {
        SeccompData input;
        for (std::uint32_t& word : input.words) word = some_word(random);
        ASSERT_EQ(run(before, input), run(after, input)) << rule.name;
      }
    }
    EXPECT_EQ(different.size(), some->size()) << rule.name;
  }
}

}  // namespace
}  // namespace secequiv::smt::rules_test
