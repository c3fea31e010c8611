#include "verify/decide/precompiled.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "verify/smt/precompiled.h"

namespace secequiv {
namespace {

// Both have the same variables, and matchers name no others.
Status check_same_variables(const Policy& policy, const Precompiled& precompiled) {
  std::set<std::string> patched;
  for (const Precompiled::Variable& variable : precompiled.variables) patched.insert(variable.name);
  std::set<std::string> mine;
  for (const auto& [name, value] : policy.variables) mine.insert(name);
  const auto lacks = [&](std::string_view who, const std::string& name) {
    return make_error(ErrorCode::kPolicy, policy.name,
                      fmt::format("{} has no variable '{}'", who, name));
  };
  for (const std::string& name : used_variables(policy))
    if (!mine.contains(name)) return lacks("the policy", name);
  for (const std::string& name : mine)
    if (!patched.contains(name)) return lacks("the precompiled program", name);
  for (const std::string& name : patched)
    if (!mine.contains(name)) return lacks("the policy", name);
  return Ok{};
}

// Prefers the policy's own values, and values and words with few bits.
PrecompiledWitness made_small(const Policy& policy, const Precompiled& precompiled,
                              PrecompiledWitness witness) {
  const auto attempt = [&](std::size_t variable, std::uint32_t value) {
    auto values = witness.values;
    values[variable].second = value;
    if (const auto other = replay(policy, precompiled, values, witness.input.data))
      witness = *other;
  };
  for (std::size_t i = 0; i < witness.values.size(); ++i) attempt(i, policy.variables[i].second);
  for (std::size_t i = 0; i < witness.values.size(); ++i) {
    if (witness.values[i].second == policy.variables[i].second) continue;
    for (int bit = 31; bit >= 0; --bit)
      if (const std::uint32_t value = witness.values[i].second; (value >> bit & 1) != 0)
        attempt(i, value & ~(1u << bit));
  }
  const Policy fixed = with_values(policy, witness.values);
  const auto program = patch(precompiled, witness.values);
  if (!program) return witness;
  witness.input = minimize(witness.input, [&](const SeccompData& data) -> std::optional<Witness> {
    const Witness out{data, decide(fixed, data), run(*program, data)};
    return out.before == out.after ? std::nullopt : std::optional(out);
  });
  return witness;
}

}  // namespace

std::optional<PrecompiledWitness> replay(const Policy& policy, const Precompiled& precompiled,
                                         VariableValues values, const SeccompData& data) {
  const auto program = patch(precompiled, values);
  if (!program) return std::nullopt;
  const std::uint32_t decided = decide(with_values(policy, values), data);
  const std::uint32_t returned = run(*program, data);
  if (decided == returned) return std::nullopt;
  return PrecompiledWitness{{values.begin(), values.end()}, {data, decided, returned}};
}

Result<PrecompiledProof> prove(const Policy& policy, const Precompiled& precompiled,
                               double timeout_seconds, std::size_t memory_mib) {
  if (const auto fault = find_fault(precompiled))
    return make_error(ErrorCode::kPolicy, precompiled.policy, fault->detail);
  if (auto s = check_same_variables(policy, precompiled); !s) return s.error();
  const auto answer = smt::prove(policy, precompiled, timeout_seconds, memory_mib);
  PrecompiledProof out;
  out.verdict = answer.verdict;
  out.detail = answer.detail;
  out.encode_seconds = answer.encode_seconds;
  out.solve_seconds = answer.solve_seconds;
  if (!answer.model) return out;
  std::map<std::string_view, std::uint32_t> by_name;
  for (std::size_t i = 0; i < precompiled.variables.size(); ++i)
    by_name.emplace(precompiled.variables[i].name, answer.model->values[i]);
  auto values = policy.variables;
  for (auto& [name, value] : values) value = by_name.at(name);
  out.witness = replay(policy, precompiled, values, answer.model->data);
  if (!out.witness)
    return make_error(ErrorCode::kInternal, "z3",
                      fmt::format("the solver's input {} does not differ when the policy decides "
                                  "and the patched program runs; please report this",
                                  describe(answer.model->data)));
  out.witness = made_small(policy, precompiled, *out.witness);
  return out;
}

}  // namespace secequiv
