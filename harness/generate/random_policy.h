// Random policies and calls for them: seeded, the same on every platform. It must not know BPF.
#pragma once

#include "harness/base/random.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A policy that read_policy could have made: one to three architectures (big-endian ones too), up
// to four rule sets (some for the vsyscall page only), every matcher on every field, any_of and
// all_of nested, numbers that are in no table, x32 actions, variables, hot calls. Actions are
// distinct, so that a wrong branch shows.
Policy random_policy(Random& random);

// An input that `policy` may have an opinion on: its numbers, its architectures and values near its
// matchers', or not.
SeccompData random_call(Random& random, const Policy& policy);

}  // namespace secequiv
