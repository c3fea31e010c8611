// Finds the rule of a user's policy that decides about one input.
#pragma once

#include <span>

#include "analyze/source.h"
#include "harness/report/rule.h"

namespace secequiv {

// Returns the rule that decides in the filter whose action wins; nothing if that filter was not
// compiled from a policy. `stack` has the newest filter first.
DecidingRule deciding_rule(std::span<const Source> stack, const SeccompData& data);

}  // namespace secequiv
