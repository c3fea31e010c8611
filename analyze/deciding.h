// Finds the rule of a user's policy, or the line of a user's program, that decides one input.
#pragma once

#include <span>

#include "analyze/source.h"
#include "harness/report/rule.h"

namespace secequiv {

// Returns the rule of the filter's policy or, for a program in a text file with known lines, the
// line of the instruction that returns; otherwise nothing.
DecidingRule deciding_rule(const Source& source, const SeccompData& data);

// Returns what decides in the filter whose action wins. `stack` has the newest filter first.
DecidingRule deciding_rule(std::span<const Source> stack, const SeccompData& data);

}  // namespace secequiv
