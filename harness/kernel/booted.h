// A kernel of any architecture that another program boots and that answers requests in frames
// (PROTOCOL.md). Owns the requests as bytes, and how a user names such a kernel. It must not know
// how the kernel is booted (scripts/kernels).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/kernel/kernel.h"

namespace secequiv::kernel {

// Boots the kernel that `name` names, which may take minutes:
//   ARCH            a kernel that `scripts/kernels serve ARCH` boots: "s390x"
//   ARCH@VERSION    another version of it: "s390x@5.10"
//   serve:COMMAND   a command that answers the requests
// The kernel ends with the returned object. Only one thread may use it. Errors: kUsage (no such
// kernel, or no command), kUnavailable (it cannot be booted here), kAdapter (a wrong answer),
// kInternal (it contradicts our table of architectures).
Result<std::unique_ptr<Kernel>> boot(const std::string& name);

// Returns the command that boots the kernel `name`. `script` is the path of scripts/kernels.
// Errors: kUsage.
Result<std::vector<std::string>> boot_command(const std::string& name, const std::string& script);

}  // namespace secequiv::kernel
