// Finds inputs like that of a witness whose call has a name, for readers. Owns the order of these
// calls. It must not know what makes an input a witness.
#pragma once

#include <vector>

#include "harness/seccomp/data.h"

namespace secequiv {

// Returns copies of `data` with each call that has a name on x86_64, aarch64 or i386; those with
// the same number come first on each architecture. Returns none if the call of `data` has such a
// name.
std::vector<SeccompData> with_named_calls(const SeccompData& data);

}  // namespace secequiv
