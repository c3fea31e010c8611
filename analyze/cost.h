// How many instructions one or two filters, or stacks of filters, execute for each system call.
// Owns how much work goes into exact costs; calls beyond that get their costs from derived inputs.
#pragma once

#include "analyze/derived.h"
#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/cost.h"
#include "harness/seccomp/profile.h"
#include "verify/dd/space.h"

namespace secequiv {

struct CostJob {
  std::vector<Stack> stacks;  // one or two; the kernel would accept each filter
  std::vector<SyscallCount> profile;
  Arch arch = Arch::kX86_64;
  double timeout = 60;     // seconds for exact costs
  dd::Limits limits = {};  // for each exact cost, but for their seconds and steps
  bool exact = true;       // without, all costs come from derived inputs
  Derive derive = {};      // called if an exact cost is missing
};

// Errors: kInternal, and those of `derive`.
Result<CostReport> cost(const CostJob& job);

}  // namespace secequiv
