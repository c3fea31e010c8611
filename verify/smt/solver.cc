#include "verify/smt/solver.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/smt/session.h"
#include "verify/symbolic/sides.h"

namespace secequiv::smt {
namespace {

constexpr double kMinimizingSeconds = 10;

// What both minimizers share: the satisfiable query, and the proof whose witness becomes smaller.
class Minimizer {
 public:
  Minimizer(Terms& terms, Solver& solver, const Question& question, const Watchdog& watchdog,
            Proof& proof)
      : terms_(terms), solver_(solver), question_(question), watchdog_(watchdog), proof_(proof) {}

 protected:
  // Clears each set bit of a term's value that can be 0 in some witness, from the highest bit on.
  // `value` returns the value in the current witness, which `improve` replaces. Returns false if
  // the time ends first.
  template <class Value, class Improve>
  Result<bool> clear_bits(Z3_ast term, const Value& value, const Improve& improve) {
    for (int bit = 31; bit >= 0; --bit) {
      if ((value() >> bit & 1) == 0) continue;
      const std::uint32_t bound = (value() >> bit) << bit;
      solver_.push();
      solver_.require(Z3_mk_bvult(terms_.context(), term, terms_.constant(bound)));
      const Result<Z3_lbool> found = improve();
      solver_.pop();
      if (!found) return found.error();
      if (*found == Z3_L_UNDEF) return false;
    }
    return true;
  }
  Z3_lbool check() { return watchdog_.expired() ? Z3_L_UNDEF : solver_.check(); }

  Terms& terms_;
  Solver& solver_;
  const Question& question_;
  const Watchdog& watchdog_;
  Proof& proof_;
};

// Minimizes the values of symbols, together with a witness for them.
class SymbolMinimizer : private Minimizer {
 public:
  using Minimizer::Minimizer;

  // Clears each set bit that can be 0 in some witness, symbol by symbol and from the highest bit.
  // Then the solver requires these values. Returns false if the time ends before they are minimal.
  Result<bool> run() {
    bool done = true;
    for (std::size_t i = 0; i < proof_.symbols.size(); ++i) {
      if (done) {
        const auto minimal = clear_bits(
            terms_.symbols()[i], [&] { return proof_.symbols[i]; }, [&] { return improve(); });
        if (!minimal) return minimal.error();
        done = *minimal;
      }
      solver_.require(terms_.eq(terms_.symbols()[i], terms_.constant(proof_.symbols[i])));
    }
    return done;
  }

  // Runs the solver. A model that replays becomes the new witness.
  Result<Z3_lbool> improve() {
    const Z3_lbool answer = check();
    if (answer != Z3_L_TRUE) return answer;
    auto values = solver_.model(terms_.symbols());
    const auto data = solver_.model();
    if (!values || !data) return Z3_L_UNDEF;
    const auto witness = replay(question_, *values, *data);
    if (!witness) return does_not_replay(*data, "differ");
    proof_.witness = witness;
    proof_.symbols = std::move(*values);
    return answer;
  }
};

// Minimizes the witness of a satisfiable query: fewest non-zero words, then each word as small as
// possible. Stops early, with `minimal` false, when the time is over.
class WitnessMinimizer : private Minimizer {
 public:
  using Minimizer::Minimizer;

  Status run() {
    proof_.witness = minimize(question_, *proof_.witness);
    const unsigned words = nonzero(proof_.witness->data);
    std::vector<Z3_ast> used;
    used.reserve(16);
    for (std::uint32_t word = 0; word < 16; ++word)
      used.push_back(terms_.negate(terms_.eq(terms_.input(word), terms_.constant(0))));
    for (unsigned limit = 0; limit < words; ++limit) {
      solver_.push();
      solver_.require(Z3_mk_atmost(terms_.context(), 16, used.data(), limit));
      const auto found = improve();
      solver_.pop();
      if (!found) return found.error();
      if (*found == Z3_L_UNDEF) return Ok{};
      if (*found == Z3_L_TRUE) break;
    }
    solver_.push();
    solver_.require(Z3_mk_atmost(terms_.context(), 16, used.data(), nonzero(proof_.witness->data)));
    auto done = smallest_values();
    solver_.pop();
    if (!done) return done.error();
    proof_.minimal = *done;
    return Ok{};
  }

 private:
  static unsigned nonzero(const SeccompData& data) {
    return static_cast<unsigned>(
        std::ranges::count_if(data.words, [](std::uint32_t w) { return w != 0; }));
  }

  // Runs the solver. A model that replays becomes the new witness.
  Result<Z3_lbool> improve() {
    const Z3_lbool answer = check();
    if (answer == Z3_L_TRUE) {
      const auto data = solver_.model();
      if (!data) return Z3_L_UNDEF;
      const auto witness = replay(question_, *data);
      if (!witness) return does_not_replay(*data, "differ");
      proof_.witness = witness;
    }
    return answer;
  }

  // Clears each set bit that can be 0 in some witness, word by word from nr on and from the highest
  // bit.
  Result<bool> smallest_values() {
    for (std::uint32_t word = 0; word < 16; ++word) {
      const auto value = [&] { return proof_.witness->data.words[word]; };
      const auto minimal = clear_bits(terms_.input(word), value, [&] { return improve(); });
      if (!minimal || !*minimal) return minimal;
      solver_.require(terms_.eq(terms_.input(word), terms_.constant(value())));
    }
    return true;
  }
};

// Decides whether some input that meets the assumption also meets a condition.
class Inputs {
 public:
  Inputs(Terms& terms, Sides<Terms>& sides, const Watchdog& watchdog, std::size_t memory_mib)
      : terms_(terms), sides_(sides), watchdog_(watchdog), memory_mib_(memory_mib) {}

  // Returns std::nullopt if a limit is reached. Uses a new solver each time, because the first
  // check of a solver is much faster than later ones.
  std::optional<bool> some(Z3_ast condition) {
    if (watchdog_.expired()) return std::nullopt;
    Solver once(terms_, memory_mib_);
    once.require(sides_.counts());
    once.require(condition);
    const Z3_lbool answer = once.check();
    if (answer == Z3_L_UNDEF) reason_ = once.reason_unknown();
    if (answer == Z3_L_UNDEF || !terms_.error().empty()) return std::nullopt;
    return answer == Z3_L_TRUE;
  }

  [[nodiscard]] std::string limit() const { return limit_text(reason_, terms_.error()); }

 private:
  Terms& terms_;
  Sides<Terms>& sides_;
  const Watchdog& watchdog_;
  std::size_t memory_mib_;
  std::string reason_;
};

// Fills in the verdict and the relation. kUnknown means that a limit is reached. kDifferent means
// that a witness exists and is still to be found.
Status find_verdict(const Question& question, Terms& terms, Sides<Terms>& sides, Inputs& inputs,
                    Proof& proof) {
  if (!question.assumption.nodes.empty()) {
    const auto any = inputs.some(terms.truth(true));
    if (!any) return Ok{};
    if (!*any) return vacuous(question);
  }
  const auto differ = inputs.some(sides.differ());
  if (!differ) return Ok{};
  if (!*differ) {
    proof.verdict = Verdict::kEquivalent;
    proof.relation = Relation::kEqual;
    return Ok{};
  }
  const auto looser = inputs.some(sides.looser());
  const auto stricter = inputs.some(sides.stricter());
  if (looser && stricter) proof.relation = relation_of(*looser, *stricter);
  if (question.goal == Question::Goal::kRefines) {
    if (!looser) return Ok{};
    if (!*looser) {
      proof.verdict = Verdict::kPass;
      return Ok{};
    }
  }
  proof.verdict = Verdict::kDifferent;
  return Ok{};
}

// Finds the smallest witness. The verdict becomes kUnknown if a limit is reached before the first
// witness is found.
Status find_witness(const Question& question, Terms& terms, Solver& solver,
                    const Watchdog& watchdog, Proof& proof) {
  SymbolMinimizer symbols(terms, solver, question, watchdog, proof);
  const auto found = symbols.improve();
  if (!found) return found.error();
  if (*found != Z3_L_TRUE) {
    proof.verdict = Verdict::kUnknown;
    return Ok{};
  }
  const Watchdog little(terms.context(), kMinimizingSeconds);
  const auto smallest = symbols.run();
  if (!smallest) return smallest.error();
  const secequiv::Instance instance(question, proof.symbols);
  if (auto done = WitnessMinimizer(terms, solver, instance.question, watchdog, proof).run(); !done)
    return done.error();
  proof.minimal = proof.minimal && *smallest;
  return Ok{};
}

}  // namespace

Result<Proof> prove(const Question& question, double timeout_seconds, std::size_t memory_mib,
                    double spent_seconds) {
  if (auto s = check_symbols(question); !s) return s.error();
  Proof proof;
  proof.engine = "z3";
  const auto start = Clock::now();
  Terms terms(question.symbols.all());
  const Watchdog watchdog(terms.context(), std::max(timeout_seconds - spent_seconds, 0.0));
  terms.limit([&] { return watchdog.expired(); });
  Solver solver(terms, memory_mib);
  Sides<Terms> sides(terms, question);
  solver.require(sides.counts());
  proof.encode_seconds = seconds_since(start);
  const auto solving = Clock::now();
  Inputs inputs(terms, sides, watchdog, memory_mib);
  if (auto s = find_verdict(question, terms, sides, inputs, proof); !s) return s.error();
  if (proof.verdict == Verdict::kDifferent) {
    solver.require(sides.wrong());
    if (auto s = find_witness(question, terms, solver, watchdog, proof); !s) return s.error();
  }
  if (proof.verdict == Verdict::kUnknown)
    proof.detail = watchdog.expired() ? watchdog.reason(timeout_seconds) : inputs.limit();
  proof.solve_seconds = seconds_since(solving);
  return proof;
}

std::string smt2(const Question& question) {
  Terms terms(question.symbols.all());
  Solver solver(terms);
  Sides<Terms> sides(terms, question);
  solver.require(terms.both(sides.counts(), sides.wrong()));
  if (stop_wanted()) return {};  // Z3 may write for seconds
  return fmt::format(
      "; satisfiable: {} on the input word0..word15{}\n(set-logic "
      "QF_BV)\n{}(check-sat)\n(get-model)\n",
      question.goal == Question::Goal::kRefines ? "the second filter is more permissive"
                                                : "the two filters differ",
      question.symbols.empty() ? "" : " with numbers in place of their names", solver.text());
}

struct FeasibilityDecider::State {
  Program program;
  Terms terms;
  SymbolicRun<Terms> run;
  Solver solver;

  explicit State(const Program& p) : program(p), run(run_symbolic(terms, program)), solver(terms) {}
};

FeasibilityDecider::FeasibilityDecider(const Program& program)
    : state_(std::make_unique<State>(program)) {}
FeasibilityDecider::~FeasibilityDecider() = default;

Result<Feasibility> FeasibilityDecider::query(const Obligation& obligation,
                                              double timeout_seconds) {
  State& s = *state_;
  Feasibility out{obligation, Feasibility::Answer::kUnknown, std::nullopt, {}};
  if (!s.run.complete) {
    out.detail = "z3: " + s.terms.error();
    return out;
  }
  if (!s.run.reach[obligation.pc]) {
    out.answer = Feasibility::Answer::kInfeasible;
    return out;
  }
  Z3_ast condition = *s.run.reach[obligation.pc];
  if (obligation.kind != Obligation::Kind::kLine) {
    Z3_ast outcome = *s.run.outcome[obligation.pc];
    condition = s.terms.both(
        condition, obligation.kind == Obligation::Kind::kTrue ? outcome : s.terms.negate(outcome));
  }
  const Watchdog watchdog(s.terms.context(), timeout_seconds);
  s.solver.push();
  s.solver.require(condition);
  const Z3_lbool answer = s.solver.check();
  const auto data = answer == Z3_L_TRUE ? s.solver.model() : std::nullopt;
  if (answer == Z3_L_FALSE && s.terms.error().empty()) {
    out.answer = Feasibility::Answer::kInfeasible;
  } else if (data) {
    CoverageMap coverage(s.program);
    coverage.run(*data);
    if (!coverage.covered(obligation))
      return does_not_replay(*data, "reach " + describe(obligation, s.program));
    out.answer = Feasibility::Answer::kFeasible;
    out.witness = data;
  } else {
    // The caller adds the limit and how much of it was left.
    out.detail = watchdog.expired()
                     ? "no time left"
                     : "z3: " + limit_text(s.solver.reason_unknown(), s.terms.error());
  }
  s.solver.pop();
  return out;
}

}  // namespace secequiv::smt
