// The rule of the users' policies that decides about one input.
#pragma once

#include <span>

#include "analyze/source.h"
#include "harness/report/rule.h"

namespace secequiv {

// The rule of the filter that decides in a stack, newest first; nothing if that filter is no
// policy.
DecidingRule deciding_rule(std::span<const Source> stack, const SeccompData& data);

}  // namespace secequiv
