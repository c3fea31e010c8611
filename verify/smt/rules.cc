#include "verify/smt/rules.h"

#include <fmt/format.h>

#include "harness/base/random.h"
#include "verify/smt/rule_query.h"

namespace secequiv::smt {
namespace {

using rules::Fragment;
using rules::Instance;
using rules::Role;

// Returns the condition under which the symbol is in range, if it is an offset of a load or an
// index of M[].
Z3_ast in_role(RuleTerms& t, const rules::Symbol& symbol) {
  if (symbol.role == Role::kPlain) return t.truth(true);
  Z3_ast term = t.symbol(symbol.name, symbol.width);
  const auto below = [&](std::uint32_t limit) { return t.negate(t.uge(term, t.constant(limit))); };
  if (symbol.role == Role::kIndex) return below(kMemWords);
  return t.both(below(kSeccompDataSize), t.eq(t.bit_and(term, t.constant(3)), t.constant(0)));
}

// Return the conditions under which the kernel refuses `after`: for its operands, or because it may
// read unwritten words of M[].
Z3_ast refused_numbers(RuleTerms& t, const Instance& instance) {
  const auto* after = std::get_if<Fragment>(&instance.after);
  if (after == nullptr) return t.truth(false);
  return t.negate(rules::evaluate(t, rules::legality(*after)));
}
Z3_ast refused_memory(RuleTerms& t, const Instance& instance) {
  Z3_ast out = t.truth(false);
  const auto symbols = rules::index_symbols(instance);
  for (const auto& values : rules::memory_refusals(instance)) {
    Z3_ast these = t.truth(true);
    for (std::size_t i = 0; i < symbols.size(); ++i)
      these = t.both(these, t.eq(t.symbol(instance.symbols[symbols[i]].name, rules::kWord),
                                 t.constant(values[i])));
    out = t.either(out, these);
  }
  return out;
}

// Returns the condition under which a live register or word of M[] differs.
Z3_ast differs(RuleTerms& t, const Machine<RuleTerms>& a, const Machine<RuleTerms>& b,
               rules::Live live) {
  Z3_ast out = t.truth(false);
  const auto compare = [&](rules::Live bit, Z3_ast mine, Z3_ast theirs) {
    if ((live & bit) != 0 && mine != theirs) out = t.either(out, t.negate(t.eq(mine, theirs)));
  };
  compare(rules::kLiveA, a.a, b.a);
  compare(rules::kLiveX, a.x, b.x);
  for (std::uint32_t k = 0; k < kMemWords; ++k) compare(rules::kLiveM << k, a.m[k], b.m[k]);
  return out;
}

// Searches for values for which the rewrite is wrong, and makes them simple.
class Search {
 public:
  Search(RuleTerms& terms, const Instance& instance, const RuleQuery& query, const Watchdog& clock,
         std::size_t memory_mib)
      : terms_(terms),
        instance_(instance),
        query_(query),
        clock_(clock),
        solver_(
            terms, memory_mib,
            rules::index_symbols(instance).empty() ? Solver::Core::kBits : Solver::Core::kWords) {
    solver_.require(query.condition);
    solver_.require(query.counts);
  }

  // Returns Z3_L_TRUE if the rewrite is wrong for `values`. Z3_L_FALSE means that it is proven and
  // that some values meet the condition.
  Result<Z3_lbool> run() {
    const Z3_lbool answer = holds(query_.any_wrong);
    if (answer == Z3_L_FALSE) {
      const Z3_lbool some = holds(terms_.truth(true));
      if (some == Z3_L_FALSE)
        return make_error(ErrorCode::kPolicy, instance_.rule->where_found,
                          fmt::format("rule {}: no values satisfy its condition and make 'before' "
                                      "legal, so the rule never applies",
                                      instance_.rule->name));
      return some == Z3_L_TRUE ? Z3_L_FALSE : Z3_L_UNDEF;
    }
    if (answer != Z3_L_TRUE) return answer;
    for (Z3_ast wrong : query_.wrong) {
      solver_.push();
      solver_.require(wrong);
      if (keep(check()) == Z3_L_TRUE) break;
      solver_.pop();
    }
    simplify();
    return Z3_L_TRUE;
  }

  [[nodiscard]] const std::vector<std::uint32_t>& values() const { return values_; }
  [[nodiscard]] std::string reason() const { return solver_.reason_unknown(); }

 private:
  Z3_lbool check() { return clock_.expired() ? Z3_L_UNDEF : solver_.check(); }
  Z3_lbool holds(Z3_ast condition) {
    solver_.push();
    solver_.require(condition);
    const Z3_lbool answer = keep(check());
    solver_.pop();
    return answer;
  }
  // Stores the values of a satisfiable check. Returns Z3_L_UNDEF if Z3 does not give them.
  Z3_lbool keep(Z3_lbool answer) {
    if (answer != Z3_L_TRUE) return answer;
    auto values = solver_.model(query_.variables);
    if (!values) return Z3_L_UNDEF;
    values_ = std::move(*values);
    return Z3_L_TRUE;
  }

  // Sets as many values as possible to 0, and other values to small numbers.
  void simplify() {
    for (std::size_t i = 0; i < query_.variables.size(); ++i) {
      for (const std::uint32_t small : {0u, 1u, 2u, 0x80000000u}) {
        Z3_ast is = terms_.eq(query_.variables[i], terms_.constant(small));
        if (values_[i] == small) {
          solver_.require(is);
          break;
        }
        solver_.push();
        solver_.require(is);
        if (keep(check()) == Z3_L_TRUE) break;  // the value stays required
        solver_.pop();
      }
    }
  }

  RuleTerms& terms_;
  const Instance& instance_;
  const RuleQuery& query_;
  const Watchdog& clock_;
  Solver solver_;
  std::vector<std::uint32_t> values_;
};

}  // namespace

RuleQuery query_of(RuleTerms& t, const Instance& instance) {
  RuleQuery out{};
  out.condition = rules::evaluate(t, instance.condition);
  out.counts = t.truth(true);
  for (const rules::Symbol& symbol : instance.symbols)
    out.counts = t.both(out.counts, in_role(t, symbol));
  if (const auto* before = std::get_if<Fragment>(&instance.before))
    out.counts = t.both(out.counts, rules::evaluate(t, rules::legality(*before)));
  const auto before = t.run(instance.before, *instance.rule);
  const auto after = t.run(instance.after, *instance.rule);
  Z3_ast same_end = t.both(before.returns, after.returns);
  Z3_ast state = t.truth(false);
  for (std::size_t exit = 0; exit < before.reaches.size(); ++exit) {
    Z3_ast both = t.both(before.reaches[exit], after.reaches[exit]);
    same_end = t.either(same_end, both);
    state = t.either(state, t.both(both, differs(t, before.states[exit], after.states[exit],
                                                 instance.rule->live[exit])));
  }
  Z3_ast refused = refused_numbers(t, instance);
  Z3_ast accepted = t.negate(refused);
  out.wrong = {t.both(accepted, t.negate(same_end)),
               t.both(accepted, t.both(t.both(before.returns, after.returns),
                                       t.negate(t.eq(before.value, after.value)))),
               t.both(accepted, state), t.either(refused, refused_memory(t, instance))};
  out.any_wrong = t.truth(false);
  for (Z3_ast wrong : out.wrong) out.any_wrong = t.either(out.any_wrong, wrong);
  out.variables = t.variables(instance);
  return out;
}

Result<RuleProof> prove_rule(const rules::Rewrite& rule, double timeout_seconds,
                             std::size_t memory_mib) {
  RuleProof out;
  const auto start = Clock::now();
  ASSIGN_OR_RETURN(auto members, rules::instances(rule));
  RuleTerms terms;
  const Watchdog clock(terms.context(), timeout_seconds);
  out.verdict = Verdict::kEquivalent;
  for (const Instance& instance : members) {
    const RuleQuery query = query_of(terms, instance);
    Search search(terms, instance, query, clock, memory_mib);
    ASSIGN_OR_RETURN(auto answer, search.run());
    if (answer == Z3_L_FALSE && terms.error().empty()) {
      ++out.members;
      continue;
    }
    if (answer == Z3_L_TRUE && terms.error().empty()) {
      out.counterexample =
          rules::replay(instance, RuleTerms::assignment(instance, search.values()));
      if (!out.counterexample)
        return make_error(ErrorCode::kInternal, "z3",
                          fmt::format("the solver's counterexample to rule {} shows no difference "
                                      "when run; please report this",
                                      rule.name));
      out.verdict = Verdict::kDifferent;
      out.at = instance.indices;
      out.symbols = instance.symbols;
    } else {
      out.verdict = Verdict::kUnknown;
      out.detail = clock.expired() ? clock.reason(timeout_seconds)
                                   : limit_text(search.reason(), terms.error());
    }
    break;
  }
  out.seconds = seconds_since(start);
  return out;
}

Result<std::vector<rules::Assignment>> some_assignments(const Instance& instance, std::size_t count,
                                                        std::uint64_t seed,
                                                        double timeout_seconds) {
  RuleTerms terms;
  const Watchdog clock(terms.context(), timeout_seconds);
  const RuleQuery query = query_of(terms, instance);
  const auto is = [&](std::size_t i, std::uint32_t mask, std::uint32_t value) {
    return terms.eq(terms.bit_and(query.variables[i], terms.constant(mask)),
                    terms.constant(value & mask));
  };
  Random random(seed);
  Z3_ast others = terms.truth(true);
  std::vector<rules::Assignment> out;
  while (out.size() < count) {
    Solver solver(terms);
    solver.require(query.condition);
    solver.require(query.counts);
    solver.require(others);
    if (clock.expired() || solver.check() != Z3_L_TRUE) break;
    auto values = solver.model(query.variables);
    if (!values) break;
    // Sets random bits if possible; Z3 chooses the remaining ones.
    for (std::size_t i = 0; i < instance.symbols.size() && !clock.expired(); ++i) {
      solver.push();
      solver.require(is(i, random.one_in(2) ? 0xffffffff : random.word(), random.word()));
      auto chosen = solver.check() == Z3_L_TRUE ? solver.model(query.variables) : std::nullopt;
      if (chosen) {
        values = std::move(chosen);
      } else {
        solver.pop();
      }
    }
    out.push_back(RuleTerms::assignment(instance, *values));
    Z3_ast same = terms.truth(true);
    for (std::size_t i = 0; i < instance.symbols.size(); ++i)
      same = terms.both(same, is(i, 0xffffffff, (*values)[i]));
    others = terms.both(others, terms.negate(same));
  }
  return out;
}

}  // namespace secequiv::smt
