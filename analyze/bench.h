// How long the running kernel takes over a profile's calls with given filters. Owns which calls are
// made with which arguments, and the variants that are timed. It must not know files.
#pragma once

#include <vector>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/latency.h"
#include "harness/seccomp/data.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

// Only calls of x86_64 can be timed.
inline constexpr Arch kTimedArch = Arch::kX86_64;

struct BenchJob {
  std::vector<std::vector<Source>> stacks;  // the kernel accepts them, except for their length
  std::vector<SyscallCount> profile;
  std::vector<SeccompData> inputs;  // where a call gets arguments from that the filters allow
  bool deeper = false;              // also each filter two, three and four times
  kernel::LatencyOptions timing;    // without batches, which depend on the number of calls
};

// Returns the calls to time: for each call of the profile, the first of `inputs` that the first
// filters allow, or arguments of zero without one. With job.timing.real, only allowed calls that do
// nothing.
std::vector<kernel::TimedCall> timed_calls(const BenchJob& job);

// Errors: kUsage (no call is left to time), kRejected (a filter is too long), and those of
// kernel::measure().
Result<LatencyReport> bench(const BenchJob& job);

}  // namespace secequiv
