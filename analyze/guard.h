// Finds ways around a filter: classes of inputs that the kernel cannot tell apart, and that the
// filter refuses for some members only; and other calls with the same effect (doors.h). Owns the
// job. It must not know files.
#pragma once

#include "analyze/source.h"
#include "harness/report/guard.h"
#include "verify/dd/space.h"

namespace secequiv {

struct GuardJob {
  Stack stack;
  Arch host = Arch::kX86_64;  // for filters that do not test the architecture
  dd::Limits limits = {};
};

// Returns the report; it is unknown if a limit is reached or if a return value is computed. Errors:
// kInternal if a filter does not decide as found when it runs.
Result<GuardReport> guard(const GuardJob& job);

struct WithoutHoles {
  Policy policy;
  std::vector<std::string> changed;  // the calls whose rules changed, with their architectures
  std::vector<DoorFinding> doors;    // the other ways around the policy, which remain
};

// Returns the policy with conditions on the calls with holes that look only at bits that the kernel
// looks at. Proves that the result has no holes and that it is never more permissive than `policy`
// (Sameness::kEffect). Errors: kUnavailable if a hole remains; kBudget; kInternal.
Result<WithoutHoles> without_holes(const Policy& policy, const GuardJob& job);

}  // namespace secequiv
