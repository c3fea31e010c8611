// The kernel that runs this process. Owns which ways lead into it. It must not know how the
// process with a filter works (traced.h).
#pragma once

#include <memory>
#include <string>

#include "harness/kernel/kernel.h"

namespace secequiv::kernel {

// Returns the running kernel, which has no state. Any thread may use it.
Kernel& running();

// Returns the release of the running kernel (not of the headers): "6.18.5".
std::string release();

// Returns whether this process has a seccomp filter, which its children would inherit. Returns true
// if that is unknown.
bool is_filtered_already();

}  // namespace secequiv::kernel
