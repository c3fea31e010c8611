// Finds the weakest condition under which a rule is right, from a small vocabulary.
#include <fmt/format.h>

#include <algorithm>

#include "verify/smt/rule_query.h"
#include "verify/smt/rules.h"

namespace secequiv::smt {
namespace {

using rules::Expr;
using rules::Instance;

constexpr std::size_t kMaxAtoms = 600;
constexpr std::size_t kMaxConditions = 64;  // how many conditions are compared with each other
constexpr std::size_t kMaxParts = 1000;
constexpr int kRounds = 64;  // how often values that no found condition covers are tried

struct Candidate {
  std::string text;
  Expr expr;
};

std::vector<std::string> vocabulary(const Instance& instance) {
  constexpr std::array kOfOne = {"${0} == 0",
                                 "${0} != 0",
                                 "${0} == 0xffffffff",
                                 "${0} != 0xffffffff",
                                 "popcount(${0}) == 1",
                                 "popcount(${0}) <= 1",
                                 "${0} & (${0} + 1) == 0",
                                 "${0} <u 32",
                                 "${0} & 0x80000000 == 0",
                                 "${0} == 1",
                                 "${0} <=u 1"};
  constexpr std::array kOfBoth = {"${0} == ${1}", "${0} != ${1}", "${0} & ${1} == 0",
                                  "${0} & ${1} != 0", "${0} + ${1} <u 32"};
  constexpr std::array kOfPair = {"${0} <u ${1}", "${0} <=u ${1}", "${0} & ~${1} == 0",
                                  "${0} & ~${1} != 0", "${0} + 1 == ${1}"};
  std::vector<std::string> out;
  const auto add = [&](const char* pattern, const std::string& a, const std::string& b) {
    std::string text = pattern;
    for (const auto& [hole, name] : {std::pair{"{0}", &a}, std::pair{"{1}", &b}})
      for (std::size_t at = 0; (at = text.find(hole)) != std::string::npos;)
        text.replace(at, 3, *name);
    out.push_back(std::move(text));
  };
  const auto& symbols = instance.symbols;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].width == rules::kTruth) {
      add("${0}", symbols[i].name, "");
      add("!${0}", symbols[i].name, "");
      continue;
    }
    for (const char* pattern : kOfOne) add(pattern, symbols[i].name, "");
    for (std::size_t j = 0; j < symbols.size(); ++j) {
      if (symbols[j].width == rules::kTruth || i == j) continue;
      if (i < j)
        for (const char* pattern : kOfBoth) add(pattern, symbols[i].name, symbols[j].name);
      for (const char* pattern : kOfPair) add(pattern, symbols[i].name, symbols[j].name);
    }
  }
  if (out.size() > kMaxAtoms) out.resize(kMaxAtoms);
  return out;
}

class Weakest {
 public:
  Weakest(const Instance& instance, double seconds, std::size_t memory_mib)
      : instance_(instance),
        seconds_(seconds),
        clock_(terms_.context(), seconds),
        query_(query_of(terms_, instance)),
        solver_(terms_, memory_mib),
        values_(terms_, memory_mib) {
    for (Solver* solver : {&solver_, &values_}) solver->require(query_.counts);
    solver_.require(state_condition());
  }

  WeakestCondition run() {
    WeakestCondition out;
    out.symbols = instance_.symbols;
    if (suffices({"true", {rules::Op::kNumber, rules::kTruth, 1, {}, {}}})) {
      out.any_of = {"true"};
      out.exact = WeakestCondition::Exact::kYes;
      out.tried = tried_;
      return finish(std::move(out), Verdict::kEquivalent);
    }
    std::vector<Candidate> atoms;
    rules::SymbolWidths widths;
    for (const std::string& text : vocabulary(instance_)) {
      auto expr = rules::parse_expr(text, rules::kTruth, widths, "the vocabulary");
      if (!expr) continue;
      std::size_t parts = kMaxParts;
      if (auto atom = rules::written_out(*expr, {}, "the vocabulary", parts))
        atoms.push_back({text, std::move(*atom)});
    }
    std::vector<Candidate> good;
    std::vector<Candidate> rest;
    for (const Candidate& atom : atoms) (suffices(atom) ? good : rest).push_back(atom);
    for (std::size_t i = 0; i < rest.size(); ++i) {
      for (std::size_t j = i + 1; j < rest.size() && !clock_.expired(); ++j) {
        Candidate both{fmt::format("{} && {}", rest[i].text, rest[j].text),
                       {rules::Op::kAnd, rules::kTruth, 0, {}, {rest[i].expr, rest[j].expr}}};
        if (suffices(both)) good.push_back(std::move(both));
      }
    }
    good = weakest_of(std::move(good));
    for (const Candidate& each : good) out.any_of.push_back(each.text);
    if (clock_.expired()) return finish(std::move(out), Verdict::kUnknown);
    find_outside(good, out);
    out.tried = tried_;
    return finish(std::move(out), good.empty() ? Verdict::kDifferent : Verdict::kEquivalent);
  }

 private:
  WeakestCondition finish(WeakestCondition out, Verdict verdict) {
    out.verdict = clock_.expired() || !terms_.error().empty() ? Verdict::kUnknown : verdict;
    if (out.verdict == Verdict::kUnknown)
      out.detail = clock_.expired() ? clock_.reason(seconds_) : limit_text("", terms_.error());
    return out;
  }

  // Returns the parts of the rule's condition that depend on the state, not only on symbols.
  Z3_ast state_condition() {
    Z3_ast out = terms_.truth(true);
    for (const Expr& part : instance_.condition.args)
      if (!rules::of_symbols(part)) out = terms_.both(out, rules::evaluate(terms_, part));
    return out;
  }
  Z3_lbool check(Solver& solver) { return clock_.expired() ? Z3_L_UNDEF : solver.check(); }

  // Returns whether the candidate holds for some values and the rule is right for all of them.
  bool suffices(const Candidate& candidate) {
    ++tried_;
    for (const auto& assignment : counterexamples_)
      if (rules::value_of(candidate.expr, instance_, assignment) != 0) return false;
    Z3_ast holds = rules::evaluate(terms_, candidate.expr);
    solver_.push();
    solver_.require(holds);
    solver_.push();
    solver_.require(query_.any_wrong);
    const Z3_lbool answer = check(solver_);
    const auto model = answer == Z3_L_TRUE ? solver_.model(query_.variables) : std::nullopt;
    if (model) counterexamples_.push_back(RuleTerms::assignment(instance_, *model));
    solver_.pop();
    const bool out = answer == Z3_L_FALSE && check(solver_) == Z3_L_TRUE;
    solver_.pop();
    return out;
  }

  bool implies(const Candidate& a, const Candidate& b) {
    values_.push();
    values_.require(rules::evaluate(terms_, a.expr));
    values_.require(terms_.negate(rules::evaluate(terms_, b.expr)));
    const bool out = check(values_) == Z3_L_FALSE;
    values_.pop();
    return out;
  }

  // Keeps the conditions that imply no other condition. Keeps the first of equivalent conditions.
  std::vector<Candidate> weakest_of(std::vector<Candidate> all) {
    std::vector<Candidate> out;
    for (Candidate& each : all) {
      if (out.size() >= kMaxConditions) break;
      if (std::ranges::any_of(out, [&](const Candidate& kept) { return implies(each, kept); }))
        continue;
      std::erase_if(out, [&](const Candidate& kept) { return implies(kept, each); });
      out.push_back(std::move(each));
    }
    return out;
  }

  // Searches for values of symbols that meet no `good` condition although the rule is right for
  // them in every state. Each round guesses such values. If a state refutes the guess, later
  // guesses exclude all values that this state refutes.
  void find_outside(const std::vector<Candidate>& good, WeakestCondition& out) {
    for (const Candidate& each : good)
      values_.require(terms_.negate(rules::evaluate(terms_, each.expr)));
    const std::size_t symbols = instance_.symbols.size();
    for (int round = 0; round < kRounds; ++round) {
      const Z3_lbool answer = check(values_);
      if (answer == Z3_L_UNDEF) return;
      if (answer == Z3_L_FALSE) {
        out.exact = WeakestCondition::Exact::kYes;
        return;
      }
      auto model = values_.model(query_.variables);
      if (!model) return;
      std::vector<std::uint32_t> guess = std::move(*model);
      guess.resize(symbols);
      solver_.push();
      for (std::size_t i = 0; i < symbols; ++i)
        solver_.require(terms_.eq(query_.variables[i], terms_.constant(guess[i])));
      const Z3_lbool some = check(solver_);
      solver_.require(query_.any_wrong);
      const Z3_lbool shown = check(solver_);
      model = shown == Z3_L_TRUE ? solver_.model(query_.variables) : std::nullopt;
      if (model) forbid(*model);
      solver_.pop();
      if (some == Z3_L_UNDEF || shown == Z3_L_UNDEF) return;
      if (model) continue;
      if (shown == Z3_L_TRUE) return;
      if (some == Z3_L_TRUE) {
        out.exact = WeakestCondition::Exact::kNo;
        out.outside = std::move(guess);
        return;
      }
      // No state meets the condition with these values, so the rule is neither right nor wrong for
      // them.
      Z3_ast other = terms_.truth(false);
      for (std::size_t i = 0; i < symbols; ++i)
        other = terms_.either(
            other, terms_.negate(terms_.eq(query_.variables[i], terms_.constant(guess[i]))));
      values_.require(other);
    }
  }

  // Excludes all values of symbols for which the rule is wrong in this state.
  void forbid(const std::vector<std::uint32_t>& model) {
    std::vector<Z3_ast> from;
    std::vector<Z3_ast> to;
    for (std::size_t i = instance_.symbols.size(); i < model.size(); ++i) {
      from.push_back(query_.variables[i]);
      to.push_back(terms_.constant(model[i]));
    }
    Z3_ast wrong = Z3_substitute(terms_.context(), terms_.both(state_condition(), query_.any_wrong),
                                 static_cast<unsigned>(from.size()), from.data(), to.data());
    values_.require(terms_.negate(wrong));
  }

  RuleTerms terms_;
  const Instance& instance_;
  double seconds_;
  Watchdog clock_;
  RuleQuery query_;
  Solver solver_;  // requires `counts` and the condition on the state
  Solver values_;  // knows only conditions about symbols
  std::vector<rules::Assignment> counterexamples_;
  std::size_t tried_ = 0;
};

}  // namespace

Result<WeakestCondition> weakest_condition(const rules::Rewrite& rule, double timeout_seconds,
                                           std::size_t memory_mib) {
  if (!rule.family.empty())
    return make_error(
        ErrorCode::kUsage, rule.where_found,
        fmt::format("weakest conditions do not support families, but rule {} has 'for:'",
                    rule.name));
  ASSIGN_OR_RETURN(auto members, rules::instances(rule));
  return Weakest(members.front(), timeout_seconds, memory_mib).run();
}

}  // namespace secequiv::smt
