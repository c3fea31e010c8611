#include "verify/smt/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "harness/base/clock.h"
#include "verify/assume.h"
#include "verify/smt/domain.h"

namespace secequiv::smt {
namespace {

std::string limit_text(const std::string& reason, const std::string& error) {
  if (reason.empty() || error.empty()) return reason + error;
  return reason + "; " + error;
}

// Interrupts Z3 at a deadline. Z3's own "timeout" parameter is only looked at between some of its
// steps.
class Watchdog {
 public:
  Watchdog(Z3_context context, double seconds)
      : deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(std::min(seconds, 1e8)))),
        thread_([this, context] {
          std::unique_lock lock(mutex_);
          while (!done_) {
            if (Clock::now() >= deadline_) {
              Z3_interrupt(context);
              wake_.wait_for(lock, std::chrono::milliseconds(20));
            } else {
              wake_.wait_until(lock, deadline_);
            }
          }
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  [[nodiscard]] bool expired() const { return Clock::now() >= deadline_; }

 private:
  Clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

class Solver {
 public:
  explicit Solver(Terms& terms, std::size_t memory_mib = 4096) : terms_(terms) {
    Z3_context c = terms.context();
    solver_ = Z3_mk_solver_for_logic(c, Z3_mk_string_symbol(c, "QF_BV"));
    Z3_solver_inc_ref(c, solver_);
    // Ctrl-C is for this process, which it ends; Z3 would take it as "give up".
    Z3_params params = Z3_mk_params(c);
    Z3_params_inc_ref(c, params);
    Z3_params_set_bool(c, params, Z3_mk_string_symbol(c, "ctrl_c"), false);
    Z3_params_set_uint(c, params, Z3_mk_string_symbol(c, "max_memory"),
                       static_cast<unsigned>(memory_mib));
    Z3_solver_set_params(c, solver_, params);
    Z3_params_dec_ref(c, params);
  }
  ~Solver() { Z3_solver_dec_ref(terms_.context(), solver_); }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  void require(Z3_ast condition) { Z3_solver_assert(terms_.context(), solver_, condition); }
  void push() { Z3_solver_push(terms_.context(), solver_); }
  void pop() { Z3_solver_pop(terms_.context(), solver_, 1); }
  Z3_lbool check() { return Z3_solver_check(terms_.context(), solver_); }
  Z3_lbool check(Z3_ast assumption) {
    return Z3_solver_check_assumptions(terms_.context(), solver_, 1, &assumption);
  }
  [[nodiscard]] std::string reason_unknown() const {
    return Z3_solver_get_reason_unknown(terms_.context(), solver_);
  }
  [[nodiscard]] std::string text() const { return Z3_solver_to_string(terms_.context(), solver_); }

  // The input of the last satisfiable check.
  SeccompData model() const {
    Z3_context c = terms_.context();
    SeccompData data;
    Z3_model model = Z3_solver_get_model(c, solver_);
    if (model == nullptr) return data;
    Z3_model_inc_ref(c, model);
    for (std::uint32_t word = 0; word < data.words.size(); ++word) {
      Z3_ast value = nullptr;
      std::uint64_t number = 0;
      if (Z3_model_eval(c, model, terms_.input(word), true, &value) &&
          Z3_get_numeral_uint64(c, value, &number))
        data.words[word] = static_cast<std::uint32_t>(number);
    }
    Z3_model_dec_ref(c, model);
    return data;
  }

 private:
  Terms& terms_;
  Z3_solver solver_;
};

// The two sides' results as terms, and what they say.
class Sides {
 public:
  Sides(Terms& terms, const Question& question)
      : terms_(terms),
        question_(question),
        before_(side(question.before)),
        after_(side(question.after)) {}

  Z3_ast counts() { return assume(terms_, question_.assumption, question_.endian); }
  Z3_ast differ() { return terms_.negate(terms_.eq(before_, after_)); }
  Z3_ast looser() { return more_permissive_symbolic(terms_, after_, before_); }
  Z3_ast stricter() { return more_permissive_symbolic(terms_, before_, after_); }
  // What answers the question with no.
  Z3_ast wrong() { return question_.goal == Question::Goal::kRefines ? looser() : differ(); }

 private:
  Z3_ast side(std::span<const ProgramView> filters) {
    return normalize_symbolic(terms_, run_stack_symbolic(terms_, filters), question_.sameness);
  }

  Terms& terms_;
  const Question& question_;
  Z3_ast before_;
  Z3_ast after_;
};

Error does_not_replay(const SeccompData& data, std::string_view what) {
  return make_error(ErrorCode::kInternal, "z3",
                    fmt::format("the solver's input {} does not {} when run; please report this",
                                describe(data), what));
}

// Makes the witness of a satisfiable query smallest: fewest non-zero words, then each word in turn
// as small as it can be. Stops early, with `minimal` false, when the time is up.
class Minimizer {
 public:
  Minimizer(Terms& terms, Solver& solver, const Question& question, const Watchdog& watchdog,
            Proof& proof)
      : terms_(terms), solver_(solver), question_(question), watchdog_(watchdog), proof_(proof) {}

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

  // Checks; a model becomes the new witness, after replay.
  Result<Z3_lbool> improve() {
    const Z3_lbool answer = watchdog_.expired() ? Z3_L_UNDEF : solver_.check();
    if (answer == Z3_L_TRUE) {
      const SeccompData data = solver_.model();
      const auto witness = replay(question_, data);
      if (!witness) return does_not_replay(data, "differ");
      proof_.witness = witness;
    }
    return answer;
  }

  // Word by word from nr on, bit by bit from the top: a set bit is cleared if some witness allows
  // it.
  Result<bool> smallest_values() {
    for (std::uint32_t word = 0; word < 16; ++word) {
      for (int bit = 31; bit >= 0; --bit) {
        if ((proof_.witness->data.words[word] >> bit & 1) == 0) continue;
        const std::uint32_t bound = (proof_.witness->data.words[word] >> bit) << bit;
        solver_.push();
        solver_.require(Z3_mk_bvult(terms_.context(), terms_.input(word), terms_.constant(bound)));
        const auto found = improve();
        solver_.pop();
        if (!found) return found.error();
        if (*found == Z3_L_UNDEF) return false;
      }
      solver_.require(
          terms_.eq(terms_.input(word), terms_.constant(proof_.witness->data.words[word])));
    }
    return true;
  }

  Terms& terms_;
  Solver& solver_;
  const Question& question_;
  const Watchdog& watchdog_;
  Proof& proof_;
};

}  // namespace

Result<Proof> prove(const Question& question, double timeout_seconds, std::size_t memory_mib) {
  Proof proof;
  proof.engine = "z3";
  const auto start = Clock::now();
  Terms terms;
  const Watchdog watchdog(terms.context(), timeout_seconds);
  Solver solver(terms, memory_mib);
  Sides sides(terms, question);
  solver.require(sides.counts());
  proof.encode_seconds = seconds_since(start);
  const auto solving = Clock::now();
  std::string reason;
  // Is there an input that counts for which it is true? Each time a solver of its own: the first
  // check of one is much faster than those that follow.
  const auto holds = [&](Z3_ast condition) -> std::optional<bool> {
    if (watchdog.expired()) return std::nullopt;
    Solver once(terms, memory_mib);
    once.require(sides.counts());
    once.require(condition);
    const Z3_lbool answer = once.check();
    if (answer == Z3_L_UNDEF) reason = once.reason_unknown();
    if (answer == Z3_L_UNDEF || !terms.error().empty()) return std::nullopt;
    return answer == Z3_L_TRUE;
  };
  const auto undecided = [&] {
    proof.verdict = Verdict::kUnknown;
    proof.detail = watchdog.expired() ? fmt::format("time limit of {} s reached", timeout_seconds)
                                      : limit_text(reason, terms.error());
    proof.solve_seconds = seconds_since(solving);
    return proof;
  };
  if (!question.assumption.nodes.empty()) {
    const auto any = holds(terms.truth(true));
    if (!any) return undecided();
    if (!*any) return vacuous(question);
  }
  const auto differ = holds(sides.differ());
  if (!differ) return undecided();
  if (!*differ) {
    proof.verdict = Verdict::kEquivalent;
    proof.relation = Relation::kEqual;
    proof.solve_seconds = seconds_since(solving);
    return proof;
  }
  const auto looser = holds(sides.looser());
  const auto stricter = holds(sides.stricter());
  if (looser && stricter) proof.relation = relation_of(*looser, *stricter);
  if (question.goal == Question::Goal::kRefines) {
    if (!looser) return undecided();
    if (!*looser) {
      proof.verdict = Verdict::kPass;
      proof.solve_seconds = seconds_since(solving);
      return proof;
    }
  }
  solver.require(sides.wrong());
  if (watchdog.expired() || solver.check() != Z3_L_TRUE) return undecided();
  const SeccompData data = solver.model();
  proof.witness = replay(question, data);
  if (!proof.witness) return does_not_replay(data, "differ");
  proof.verdict = Verdict::kDifferent;
  if (auto done = Minimizer(terms, solver, question, watchdog, proof).run(); !done)
    return done.error();
  proof.solve_seconds = seconds_since(solving);
  return proof;
}

std::string smt2(const Question& question) {
  Terms terms;
  Solver solver(terms);
  Sides sides(terms, question);
  solver.require(terms.both(sides.counts(), sides.wrong()));
  return fmt::format(
      "; satisfiable: {} on the input word0..word15\n(set-logic "
      "QF_BV)\n{}(check-sat)\n(get-model)\n",
      question.goal == Question::Goal::kRefines ? "the second filter is more permissive"
                                                : "the two filters differ",
      solver.text());
}

struct FeasibilityOracle::State {
  Program program;
  Terms terms;
  SymbolicRun<Terms> run;
  Solver solver;

  explicit State(const Program& p) : program(p), run(run_symbolic(terms, program)), solver(terms) {}
};

FeasibilityOracle::FeasibilityOracle(const Program& program)
    : state_(std::make_unique<State>(program)) {}
FeasibilityOracle::~FeasibilityOracle() = default;

Result<Feasibility> FeasibilityOracle::query(const Obligation& obligation, double timeout_seconds) {
  State& s = *state_;
  Feasibility out{obligation, Feasibility::Answer::kUnknown, std::nullopt, {}};
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
  if (answer == Z3_L_FALSE && s.terms.error().empty()) {
    out.answer = Feasibility::Answer::kInfeasible;
  } else if (answer == Z3_L_TRUE) {
    const SeccompData data = s.solver.model();
    CoverageMap coverage(s.program);
    coverage.run(data.words);
    if (!coverage.covered(obligation))
      return does_not_replay(data, "reach " + describe(obligation, s.program));
    out.answer = Feasibility::Answer::kFeasible;
    out.witness = data;
  } else {
    // The caller knows what was left of which limit.
    out.detail = watchdog.expired()
                     ? "no time left"
                     : "z3: " + limit_text(s.solver.reason_unknown(), s.terms.error());
  }
  s.solver.pop();
  return out;
}

}  // namespace secequiv::smt
