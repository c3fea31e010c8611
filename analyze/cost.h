// Computes how many instructions one or two stacks of filters execute for each system call. Owns
// how much work goes into exact costs; all other costs come from derived inputs. It must not know
// files.
#pragma once

#include "analyze/derived.h"
#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/cost.h"
#include "harness/seccomp/profile.h"
#include "verify/dd/space.h"

namespace secequiv {

struct CostJob {
  std::vector<Stack> stacks;  // one or two stacks of filters that the kernel would accept
  std::vector<SyscallCount> profile;
  Arch arch = Arch::kX86_64;
  double timeout = 60;     // seconds for exact costs
  dd::Limits limits = {};  // for each exact cost; `seconds` and `steps` are ignored
  bool exact = true;       // false: all costs come from derived inputs
  bool bound = false;      // true: also find lower bounds for every equivalent filter
  bool profiled = true;    // false: `profile` has each call once
  Derive derive = {};      // called if an exact cost is missing
};

// Returns the report. Errors: kInternal, and those of `derive`.
Result<CostReport> cost(const CostJob& job);

}  // namespace secequiv
