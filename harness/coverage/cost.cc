#include "harness/coverage/cost.h"

#include <algorithm>
#include <unordered_map>

#include "harness/seccomp/action.h"
#include "harness/seccomp/cache.h"

namespace secequiv {
namespace {

struct Counter {
  std::size_t instructions = 0;
  std::size_t jumps = 0;

  void at(const Insn* pc, const Machine<Concrete>&) {
    ++instructions;
    if (pc->code == kJa && pc->k != 0) ++jumps;
  }
  void outcome(const Insn* pc, bool taken) {
    if ((taken ? pc->jt : pc->jf) != 0) ++jumps;
  }
};

// Runs all filters. Returns whether they allow the call.
bool run_all(FilterStack stack, const SeccompData& data, Counter& counter) {
  bool allowed = true;
  for (const ProgramView program : stack)
    allowed &= action_of(run_observed(program, data, counter)) == SECCOMP_RET_ALLOW;
  return allowed;
}

// Adds up the counts of several runs.
struct Runs {
  std::size_t count = 0;
  std::size_t sum = 0;
  std::size_t least = 0;
  std::size_t most = 0;
  std::size_t jumps = 0;

  void add(const Counter& run) {
    least = count == 0 ? run.instructions : std::min(least, run.instructions);
    most = std::max(most, run.instructions);
    sum += run.instructions;
    jumps += run.jumps;
    ++count;
  }
  [[nodiscard]] double mean(std::size_t of) const {
    return static_cast<double>(of) / static_cast<double>(count);
  }
};

struct RunsOfCall {
  Runs allowed;
  Runs all;
};

double mean_of(std::span<const CallCost> costs, bool cache) {
  double calls = 0;
  double instructions = 0;
  for (const CallCost& cost : costs) {
    const auto weight = static_cast<double>(cost.calls);
    calls += weight;
    if (!cache || !cost.cached) instructions += weight * cost.mean;
  }
  return calls == 0 ? 0 : instructions / calls;
}

}  // namespace

std::size_t executed(FilterStack stack, const SeccompData& data) {
  Counter counter;
  run_all(stack, data, counter);
  return counter.instructions;
}

WorstInput worst(FilterStack stack, std::span<const SeccompData> inputs) {
  WorstInput out{inputs.front(), 0};
  for (const SeccompData& data : inputs)
    if (const std::size_t instructions = executed(stack, data); instructions > out.instructions)
      out = {data, instructions};
  return out;
}

std::vector<CallCost> profile_cost(FilterStack stack, Arch arch,
                                   std::span<const SyscallCount> profile,
                                   std::span<const SeccompData> inputs) {
  const std::uint32_t audit = arch_info(arch).audit;
  std::unordered_map<std::uint32_t, RunsOfCall> by_nr;
  for (const SyscallCount& count : profile)
    if (const auto nr = profile_nr(arch, count.name)) by_nr.try_emplace(*nr);
  for (const SeccompData& data : inputs) {
    if (data.arch() != audit) continue;
    const auto found = by_nr.find(data.nr());
    if (found == by_nr.end()) continue;
    Counter counter;
    const bool allowed = run_all(stack, data, counter);
    found->second.all.add(counter);
    if (allowed) found->second.allowed.add(counter);
  }
  const std::vector<bool> cached = cacheable(stack, arch);
  std::vector<CallCost> out;
  for (const SyscallCount& count : profile) {
    const auto nr = profile_nr(arch, count.name);
    if (!nr) continue;
    const RunsOfCall& of_call = by_nr[*nr];
    Runs runs = of_call.allowed.count > 0 ? of_call.allowed : of_call.all;
    const std::size_t given = runs.count;
    if (given == 0) {
      SeccompData data;
      data.set_nr(*nr);
      data.set_arch(audit);
      Counter counter;
      run_all(stack, data, counter);
      runs.add(counter);
    }
    out.push_back({count.name, count.calls, *nr < cached.size() && cached[*nr], runs.mean(runs.sum),
                   runs.least, runs.most, given, runs.mean(runs.jumps)});
  }
  return out;
}

double weighted_mean(std::span<const CallCost> costs) { return mean_of(costs, true); }

double weighted_mean_uncached(std::span<const CallCost> costs) { return mean_of(costs, false); }

}  // namespace secequiv
