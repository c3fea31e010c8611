// The action of each system call, if it does not depend on arguments. Owns the job that makes the
// report.
#pragma once

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/actions.h"
#include "harness/seccomp/action.h"
#include "verify/dd/space.h"

namespace secequiv {

struct ActionsJob {
  Stack stack;
  Sameness sameness = Sameness::kRaw;
  Arch host = Arch::kX86_64;  // listed if the filters look at no architecture
  dd::Limits limits = {};
};

// Errors: kBudget if the limits are reached.
Result<ActionsReport> actions(const ActionsJob& job);

}  // namespace secequiv
