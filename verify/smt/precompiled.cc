#include "verify/smt/precompiled.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "verify/smt/session.h"
#include "verify/symbolic/policy_symbolic.h"

namespace secequiv::smt {
namespace {

// The variables as symbols of the program: any of their values can stand in any of their places.
Symbols symbols_of(const Precompiled& precompiled) {
  Symbols out;
  std::vector<SymbolUse> uses;
  for (const Precompiled::Variable& variable : precompiled.variables) {
    out.add(variable.name);
    for (const std::size_t pc : variable.places) uses.push_back({pc, variable.name, {}});
  }
  out.add(precompiled.program, uses);
  return out;
}

}  // namespace

PrecompiledAnswer prove(const Policy& policy, const Precompiled& precompiled,
                        double timeout_seconds, std::size_t memory_mib) {
  PrecompiledAnswer out;
  const auto start = Clock::now();
  const Symbols symbols = symbols_of(precompiled);
  Terms terms(symbols.all());
  const Watchdog watchdog(terms.context(), timeout_seconds);
  Solver solver(terms, memory_mib);
  std::map<std::string_view, Z3_ast> by_name;
  for (std::uint32_t i = 0; i < symbols.size(); ++i)
    by_name.emplace(symbols.all()[i].name, terms.symbols()[i]);
  Z3_ast decided =
      decide_symbolic(terms, policy, [&](const std::string& name) { return by_name.at(name); });
  Z3_ast returned = run_symbolic(terms, precompiled.program, symbols).result;
  solver.require(terms.negate(terms.eq(decided, returned)));
  out.encode_seconds = seconds_since(start);
  const auto solving = Clock::now();
  const Z3_lbool answer = watchdog.expired() ? Z3_L_UNDEF : solver.check();
  out.solve_seconds = seconds_since(solving);
  const auto values = answer == Z3_L_TRUE ? solver.model(terms.symbols()) : std::nullopt;
  const auto data = answer == Z3_L_TRUE ? solver.model() : std::nullopt;
  if (values && data) {
    out.verdict = Verdict::kDifferent;
    out.model = {*values, *data};
  } else if (answer == Z3_L_FALSE && terms.error().empty()) {
    out.verdict = Verdict::kEquivalent;
  } else {
    out.detail = watchdog.expired() ? watchdog.reason(timeout_seconds)
                                    : limit_text(solver.reason_unknown(), terms.error());
  }
  return out;
}

}  // namespace secequiv::smt
