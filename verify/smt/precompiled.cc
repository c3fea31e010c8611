#include "verify/smt/precompiled.h"

#include <fmt/format.h>

#include <map>

#include "verify/policy_symbolic.h"
#include "verify/smt/session.h"

namespace secequiv::smt {
namespace {

// Terms over the variables of a precompiled program too. While an instruction is at work that is a
// place, the constant it asks for is the variable.
class PatchedTerms : public Terms {
 public:
  explicit PatchedTerms(const Precompiled& precompiled) {
    Z3_context c = context();
    Z3_sort word = Z3_mk_bv_sort(c, 32);
    for (std::size_t i = 0; i < precompiled.variables.size(); ++i) {
      const Precompiled::Variable& variable = precompiled.variables[i];
      const std::string name = fmt::format("variable{}", i);
      Z3_ast term = Z3_mk_const(c, Z3_mk_string_symbol(c, name.c_str()), word);
      variables_.push_back(term);
      by_name_.emplace(variable.name, term);
      for (const std::size_t pc : variable.places) places_.emplace(pc, term);
    }
  }

  [[nodiscard]] const std::vector<Z3_ast>& variables() const { return variables_; }
  [[nodiscard]] Word variable(const std::string& name) const { return by_name_.at(name); }

  void at(std::size_t pc) {
    const auto place = places_.find(pc);
    here_ = place == places_.end() ? nullptr : place->second;
  }
  Word constant(std::uint32_t k) { return here_ != nullptr ? here_ : Terms::constant(k); }

 private:
  std::vector<Z3_ast> variables_;
  std::map<std::string, Z3_ast> by_name_;
  std::map<std::size_t, Z3_ast> places_;
  Z3_ast here_ = nullptr;
};
static_assert(SymbolicDomain<PatchedTerms>);

}  // namespace

PrecompiledAnswer prove(const Policy& policy, const Precompiled& precompiled,
                        double timeout_seconds, std::size_t memory_mib) {
  PrecompiledAnswer out;
  const auto start = Clock::now();
  PatchedTerms terms(precompiled);
  const Watchdog watchdog(terms.context(), timeout_seconds);
  Solver solver(terms, memory_mib);
  Z3_ast decided =
      decide_symbolic(terms, policy, [&](const std::string& name) { return terms.variable(name); });
  Z3_ast returned = run_symbolic(terms, precompiled.program).result;
  solver.require(terms.negate(terms.eq(decided, returned)));
  out.encode_seconds = seconds_since(start);
  const auto solving = Clock::now();
  const Z3_lbool answer = watchdog.expired() ? Z3_L_UNDEF : solver.check();
  out.solve_seconds = seconds_since(solving);
  if (answer == Z3_L_TRUE) {
    out.verdict = Verdict::kDifferent;
    out.model = {solver.model(terms.variables()), solver.model()};
  } else if (answer == Z3_L_FALSE && terms.error().empty()) {
    out.verdict = Verdict::kEquivalent;
  } else {
    out.detail = watchdog.expired() ? fmt::format("time limit of {} s reached", timeout_seconds)
                                    : limit_text(solver.reason_unknown(), terms.error());
  }
  return out;
}

}  // namespace secequiv::smt
