// Owns the translation of policies into rules that libseccomp can express. It must not know
// libseccomp's functions.
#pragma once

#include "adapters/libseccomp/filter.h"
#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace adapter {

// Translates a policy. Rules stay in the policy's order. Rules with the default action are omitted,
// because libseccomp refuses them and they decide nothing. The error explains why libseccomp cannot
// express the policy.
secequiv::Result<FilterSpec> express(const secequiv::Policy& policy);

}  // namespace adapter
