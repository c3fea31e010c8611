// Finds inputs that resemble a witness, but whose call has a name that readers know. Owns the order
// of these calls. It must not know what makes an input a witness.
#pragma once

#include <vector>

#include "harness/seccomp/data.h"

namespace secequiv {

// Returns a copy of `data` for each call with a name on x86_64, aarch64 and i386. On each
// architecture, the call with the number of `data` comes first. Returns no copies if the call of
// `data` already has such a name.
std::vector<SeccompData> with_named_calls(const SeccompData& data);

}  // namespace secequiv
