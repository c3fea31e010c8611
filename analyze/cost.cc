#include "analyze/cost.h"

#include "analyze/load.h"
#include "harness/base/clock.h"
#include "verify/bound/bound.h"
#include "verify/dd/cost.h"

namespace secequiv {
namespace {

// Limits for steps of diagrams. The first is about four times what real filters of 7000
// instructions need. If several calls exceed it, every further call gets fewer steps, because there
// are hundreds of calls.
constexpr std::size_t kCallSteps = std::size_t{1} << 20;
constexpr std::size_t kFewSteps = std::size_t{1} << 16;
constexpr std::size_t kMostTries = 8;
constexpr std::size_t kWorstSteps = std::size_t{1} << 21;

// Computes exact costs, with one time limit for all sides.
class ExactCosts {
 public:
  explicit ExactCosts(const CostJob& job) : job_(job) {}

  // Replaces the costs that can be computed over all inputs within the limits. Errors: kInternal.
  Status fill(CostReport::Side& side, FilterStack stack) const {
    std::size_t beyond = 0;
    for (std::size_t i = 0; i < side.calls.size(); ++i) {
      CallCost& call = side.calls[i];
      const auto nr = profile_nr(job_.arch, call.name);
      if (!nr) continue;
      const std::size_t steps = beyond < kMostTries ? kCallSteps : kFewSteps;
      ASSIGN_OR_RETURN(auto found, within<ExactCost>(steps, [&](const dd::Limits& limits) {
                         return dd::exact_cost(stack, arch_info(job_.arch).audit, *nr, limits);
                       }));
      if (!found) ++beyond;
      side.exact[i] = std::move(found);
      if (const auto& exact = side.exact[i]) {
        call.least = exact->least.instructions;
        call.mean = exact->mean.value;
        call.most = exact->most.instructions;
        call.jumps = exact->jumps.value;
        call.inputs = 0;
      }
    }
    ASSIGN_OR_RETURN(const auto found,
                     within<WorstInput>(kWorstSteps, [&](const dd::Limits& limits) {
                       return dd::exact_worst(stack, limits);
                     }));
    side.worst_exact = found.has_value();
    if (found) side.worst = *found;
    return Ok{};
  }

  // Finds the bound, or the reason why there is none. Errors: kInternal.
  Status bound(CostReport::Side& side, FilterStack stack) const {
    dd::Limits limits = job_.limits;
    limits.seconds = job_.timeout;
    auto found = bound::lower_bound(stack, job_.arch, job_.profile, limits);
    if (!found && found.error().code != ErrorCode::kBudget) return found.error();
    if (found)
      side.bound = *found;
    else
      side.no_bound = found.error().detail;
    return Ok{};
  }

 private:
  // Returns std::nullopt inside the result if the limits are reached.
  template <class Value, class Ask>
  [[nodiscard]] Result<std::optional<Value>> within(std::size_t steps, const Ask& ask) const {
    dd::Limits limits = job_.limits;
    limits.steps = steps;
    limits.seconds = job_.timeout - seconds_since(start_);
    if (limits.seconds <= 0) return std::optional<Value>();
    auto found = ask(limits);
    if (found) return std::optional<Value>(std::move(*found));
    if (found.error().code == ErrorCode::kBudget) return std::optional<Value>();
    return found.error();
  }

  const CostJob& job_;
  Clock::time_point start_ = Clock::now();
};

// Returns the worst input among `inputs` and those that the exact costs found.
WorstInput worst_known(const CostReport::Side& side, FilterStack stack,
                       std::vector<SeccompData> inputs) {
  for (const auto& exact : side.exact)
    if (exact) inputs.push_back(exact->most.data);
  return worst(stack, inputs);
}

}  // namespace

Result<CostReport> cost(const CostJob& job) {
  CostReport report{job.arch, 0, {}};
  report.profiled = job.profiled;
  report.notes = notes_about(job.stacks);
  const ExactCosts exact(job);
  bool complete = true;
  for (const Stack& stack : job.stacks) {
    const auto programs = views(stack.filters);
    CostReport::Side& side = report.sides.emplace_back(CostReport::Side{counted(stack)});
    side.calls = profile_cost(programs, job.arch, job.profile, {});
    side.exact.resize(side.calls.size());
    if (job.bound) RETURN_IF_ERROR(exact.bound(side, programs));
    if (job.exact) RETURN_IF_ERROR(exact.fill(side, programs));
    complete = complete && side.calls_exact() && side.worst_exact;
  }
  if (complete) return report;
  ASSIGN_OR_RETURN(auto inputs, job.derive());
  if (inputs.empty()) inputs.emplace_back();
  report.inputs = inputs.size();
  for (std::size_t s = 0; s < report.sides.size(); ++s) {
    CostReport::Side& side = report.sides[s];
    const auto programs = views(job.stacks[s].filters);
    const auto calls = profile_cost(programs, job.arch, job.profile, inputs);
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (!side.exact[i]) side.calls[i] = calls[i];
    if (!side.worst_exact) side.worst = worst_known(side, programs, inputs);
  }
  return report;
}

}  // namespace secequiv
