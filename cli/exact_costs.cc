#include "cli/exact_costs.h"

#include "harness/seccomp/profile.h"

namespace secequiv::cli {
namespace {

// Steps of diagrams, some four times and more what real filters of 7000 instructions need. Where
// many calls are beyond that, the others are given less: there are hundreds.
constexpr std::size_t kCallSteps = std::size_t{1} << 20;
constexpr std::size_t kFewSteps = std::size_t{1} << 16;
constexpr std::size_t kMostTries = 8;
constexpr std::size_t kWorstSteps = std::size_t{1} << 21;

}  // namespace

WorstInput worst_known(const CostedSide& side, std::vector<SeccompData> inputs) {
  for (const auto& exact : side.exact)
    if (exact) inputs.push_back(exact->most.data);
  if (inputs.empty()) inputs.emplace_back();
  return worst(side.source->program, inputs);
}

template <class Value, class Ask>
Result<std::optional<Value>> ExactCosts::within(std::size_t steps, const Ask& ask) const {
  dd::Limits limits = limits_;
  limits.steps = steps;
  limits.seconds = timeout_ - seconds_since(start_);
  if (limits.seconds <= 0) return std::optional<Value>();
  auto found = ask(limits);
  if (found) return std::optional<Value>(std::move(*found));
  if (found.error().code == ErrorCode::kBudget) return std::optional<Value>();
  return found.error();
}

Status ExactCosts::fill(CostedSide& side, Arch arch) const {
  const Program& program = side.source->program;
  std::size_t beyond = 0;
  for (CallCost& call : side.calls) {
    side.exact.emplace_back();
    const auto nr = profile_nr(arch, call.name);
    if (!nr) continue;
    const std::size_t steps = beyond < kMostTries ? kCallSteps : kFewSteps;
    auto found = within<dd::ExactCost>(steps, [&](const dd::Limits& limits) {
      return dd::exact_cost(program, arch_info(arch).audit, *nr, limits);
    });
    if (!found) return found.error();
    if (!*found) ++beyond;
    side.exact.back() = std::move(*found);
    if (const auto& exact = side.exact.back()) {
      call.least = exact->least.instructions;
      call.mean = exact->mean.value;
      call.most = exact->most.instructions;
      call.jumps = exact->jumps.value;
      call.inputs = 0;
    }
  }
  const auto found = within<WorstInput>(
      kWorstSteps, [&](const dd::Limits& limits) { return dd::exact_worst(program, limits); });
  if (!found) return found.error();
  side.worst_exact = found->has_value();
  if (*found) side.worst = **found;
  return Ok{};
}

}  // namespace secequiv::cli
