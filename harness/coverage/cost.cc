#include "harness/coverage/cost.h"

#include <algorithm>
#include <unordered_map>

#include "harness/seccomp/action.h"
#include "harness/seccomp/cache.h"

namespace secequiv {
namespace {

struct Counter {
  std::size_t instructions = 0;

  void at(const Insn*, const Machine<Concrete>&) { ++instructions; }
  void outcome(const Insn*, bool) {}
};

// Of several runs.
struct Runs {
  std::size_t count = 0;
  std::size_t sum = 0;
  std::size_t least = 0;
  std::size_t most = 0;

  void add(std::size_t instructions) {
    least = count == 0 ? instructions : std::min(least, instructions);
    most = std::max(most, instructions);
    sum += instructions;
    ++count;
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

std::size_t executed(ProgramView program, const SeccompData& data) {
  Counter counter;
  run_observed(program, data.words, counter);
  return counter.instructions;
}

std::vector<CallCost> profile_cost(ProgramView program, Arch arch,
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
    const std::uint32_t value = run_observed(program, data.words, counter);
    found->second.all.add(counter.instructions);
    if (action_of(value) == SECCOMP_RET_ALLOW) found->second.allowed.add(counter.instructions);
  }
  const std::vector<bool> cached = cacheable(program, arch);
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
      runs.add(executed(program, data));
    }
    out.push_back({count.name, count.calls, *nr < cached.size() && cached[*nr],
                   static_cast<double>(runs.sum) / static_cast<double>(runs.count), runs.least,
                   runs.most, given});
  }
  return out;
}

double weighted_mean(std::span<const CallCost> costs) { return mean_of(costs, true); }

double weighted_mean_uncached(std::span<const CallCost> costs) { return mean_of(costs, false); }

}  // namespace secequiv
