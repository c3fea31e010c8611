// What of a policy libseccomp can say. Owns that translation; must not know libseccomp's calls.
#pragma once

#include "adapters/libseccomp/filter.h"
#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace adapter {

// Rules stay in the policy's order; those with the default action, which libseccomp does not take
// and which decide nothing, are left out. Errors: why libseccomp cannot say what the policy says.
secequiv::Result<FilterSpec> express(const secequiv::Policy& policy);

}  // namespace adapter
