// Measures how long a profile's calls take in the running kernel with given filters. Owns the
// choice of calls, of their arguments, and of the timed variants. It must not know files.
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
  std::vector<Stack> stacks;  // the kernel accepts them, except that they may be too long
  std::vector<SyscallCount> profile;
  std::vector<SeccompData> inputs;  // source of arguments that the filters allow
  bool deeper = false;              // also time each filter stacked two, three and four times
  kernel::LatencyOptions timing;    // `batches` is ignored: the number of calls determines it
};

// Returns the calls to time: for each call of the profile, the first of `inputs` that the first
// stack allows, or else arguments of 0. With job.timing.real, the result has only allowed calls
// that do nothing.
std::vector<kernel::TimedCall> timed_calls(const BenchJob& job);

// Returns the report. Errors: kUsage (no call is left to time), kRejected (a filter is too long),
// and those of kernel::measure().
Result<LatencyReport> bench(const BenchJob& job);

}  // namespace secequiv
