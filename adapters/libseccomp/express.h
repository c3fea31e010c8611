// Owns translating policies into what libseccomp can express. It must not know libseccomp's
// functions.
#pragma once

#include "adapters/libseccomp/filter.h"
#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace adapter {

// Keeps rules in the policy's order. Omits rules with the default action, which libseccomp refuses
// and which decide nothing. Errors: why libseccomp cannot express the policy.
secequiv::Result<FilterSpec> express(const secequiv::Policy& policy);

}  // namespace adapter
