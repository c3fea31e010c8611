// Rewrites policies so that equal meanings look alike, because one mistake of a compiler shows in
// many spellings. It must not know findings.
#pragma once

#include "harness/policy/policy.h"

namespace secequiv::hunt {

// Returns a policy that makes the same decisions: alternatives and conditions are sorted by their
// tests, and "> v - 1" and "< v + 1" replace ">= v" and "<= v".
Policy in_one_spelling(Policy policy);

}  // namespace secequiv::hunt
