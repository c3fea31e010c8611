// Rewrites rules that people read into forms that the optimizer's search can use better. Owns these
// forms. It must not know how rules are optimized or found.
#pragma once

#include <vector>

#include "harness/policy/policy.h"

namespace secequiv {

// Returns equivalent policies whose rules have another form, without those that have none:
// - People prefer ranges, but search trees need values.
// - People read conditions field by field. Lists of alternatives without nesting leave the choice
//   of the field that is tested first to the optimizer.
std::vector<Policy> forms_for_search(const Policy& policy);

}  // namespace secequiv
