// Rewrites policies so that some equal meanings look alike, because one mistake of a compiler shows
// in many spellings. It must not know findings.
#pragma once

#include "harness/policy/policy.h"

namespace secequiv::hunt {

// Each returns a policy that makes the same decisions.

// Sorts alternatives and conditions by their tests.
Policy with_sorted_rules(Policy policy);
// Replaces ">= v" and "<= v" by "> v - 1" and "< v + 1".
Policy with_strict_tests(Policy policy);

}  // namespace secequiv::hunt
