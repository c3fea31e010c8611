#include "verify/smt/policy_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "harness/bpf/refusal.h"
#include "verify/smt/session.h"
#include "verify/symbolic/policy_symbolic.h"

namespace secequiv::smt {
namespace {

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

// Returns the policy's variables, used or not, as symbols of the program.
Symbols symbols_of(const Policy& policy, const SymbolicProgram& program) {
  Symbols out;
  for (const auto& [name, value] : policy.variables) out.add(name);
  out.add(program.program, program.uses);
  return out;
}

Status check_names(const Policy& policy, const Symbols& symbols) {
  const auto fails = [&](std::string detail) {
    return make_error(ErrorCode::kPolicy, policy.name, std::move(detail));
  };
  const auto lacks = [&](std::string_view name) {
    return std::ranges::find(policy.variables, name, &Values::value_type::first) ==
           policy.variables.end();
  };
  for (const std::string& name : used_variables(policy))
    if (lacks(name)) return fails(fmt::format("the policy has no variable '{}'", name));
  for (const Symbol& symbol : symbols.all()) {
    if (lacks(symbol.name))
      return fails(fmt::format("the policy has no variable '{}'", symbol.name));
    if (symbol.is_restricted())
      return fails(
          fmt::format("variable '{}' is the operand of a division or shift, and the kernel refuses "
                      "some of its values",
                      symbol.name));
  }
  return Ok{};
}

Values named(const Policy& policy, std::span<const std::uint32_t> values) {
  Values out = policy.variables;
  for (std::size_t i = 0; i < out.size(); ++i) out[i].second = values[i];
  return out;
}

// Gives variables their values in the policy if possible, and otherwise clears bits of their
// values. Then minimizes the input. Precondition: the witness of `proof` replays with its symbols.
void make_small(const Policy& policy, const SymbolicProgram& program, Proof& proof) {
  const auto differ = [&](const SeccompData& data) {
    return replay(policy, program, named(policy, proof.symbols), data);
  };
  const auto attempt = [&](std::size_t variable, std::uint32_t value) {
    const std::uint32_t was = std::exchange(proof.symbols[variable], value);
    if (const auto other = differ(proof.witness->data))
      proof.witness = other;
    else
      proof.symbols[variable] = was;
  };
  for (std::size_t i = 0; i < proof.symbols.size(); ++i) attempt(i, policy.variables[i].second);
  for (std::size_t i = 0; i < proof.symbols.size(); ++i) {
    if (proof.symbols[i] == policy.variables[i].second) continue;
    for (int bit = 31; bit >= 0; --bit)
      if (const std::uint32_t value = proof.symbols[i]; (value >> bit & 1) != 0)
        attempt(i, value & ~(1u << bit));
  }
  proof.witness = minimize(*proof.witness, differ);
}

}  // namespace

std::optional<Witness> replay(const Policy& policy, const SymbolicProgram& program,
                              VariableValues values, const SeccompData& data) {
  SymbolicProgram filled = program;
  fill(filled, values);
  const Witness out{data, decide(with_values(policy, values), data), run(filled.program, data)};
  return out.before == out.after ? std::nullopt : std::optional(out);
}

Result<Proof> prove(const Policy& policy, const SymbolicProgram& program, double timeout_seconds,
                    std::size_t memory_mib) {
  if (const auto refusal = refusal_of(program.program))
    return make_error(ErrorCode::kRejected, policy.name, describe(*refusal, program.program));
  const Symbols symbols = symbols_of(policy, program);
  RETURN_IF_ERROR(check_names(policy, symbols));
  Proof proof;
  proof.engine = "z3";
  const auto start = Clock::now();
  Terms terms(symbols.all());
  const Watchdog watchdog(terms.context(), timeout_seconds);
  terms.limit([&] { return watchdog.expired(); });
  Solver solver(terms, memory_mib);
  std::map<std::string_view, Z3_ast> by_name;
  for (std::uint32_t i = 0; i < symbols.size(); ++i)
    by_name.emplace(symbols.all()[i].name, terms.symbols()[i]);
  Z3_ast decided =
      decide_symbolic(terms, policy, [&](const std::string& name) { return by_name.at(name); });
  Z3_ast returned = run_symbolic(terms, program.program, symbols).result;
  solver.require(terms.negate(terms.eq(decided, returned)));
  proof.encode_seconds = seconds_since(start);
  const auto solving = Clock::now();
  const Z3_lbool answer =
      watchdog.expired() || !terms.error().empty() ? Z3_L_UNDEF : solver.check();
  proof.solve_seconds = seconds_since(solving);
  const auto values = answer == Z3_L_TRUE ? solver.model(terms.symbols()) : std::nullopt;
  const auto data = answer == Z3_L_TRUE ? solver.model() : std::nullopt;
  if (values && data) {
    proof.verdict = Verdict::kDifferent;
    proof.symbols = *values;
    proof.witness = replay(policy, program, named(policy, *values), *data);
    if (!proof.witness) return does_not_replay(*data, "differ from the policy");
    make_small(policy, program, proof);
  } else if (answer == Z3_L_FALSE && terms.error().empty()) {
    proof.verdict = Verdict::kEquivalent;
  } else {
    proof.detail = watchdog.expired() ? watchdog.reason(timeout_seconds)
                                      : limit_text(solver.reason_unknown(), terms.error());
  }
  return proof;
}

}  // namespace secequiv::smt
