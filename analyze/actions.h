// Finds the action of each system call, and the argument conditions on which it depends. Owns the
// job that makes the report. It must not know files.
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
  Arch host = Arch::kX86_64;  // the architecture to list if the filters test none
  dd::Limits limits = {};
};

// Returns the report. Errors: kBudget if the limits are reached.
Result<ActionsReport> actions(const ActionsJob& job);

}  // namespace secequiv
