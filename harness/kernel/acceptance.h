// Finds out which programs the running kernel accepts as seccomp filters. Owns how to do that
// without installing anything. It must not know our own rules (bpf/refusal.h).
//
// Source: seccomp_prepare_filter, then get_unused_fd_flags in seccomp_set_mode_filter
// (kernel/seccomp.c): a filter is checked before its listener is given a descriptor.
#pragma once

#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"

namespace secequiv::kernel {

// Returns for each program whether the kernel accepts it. It starts one child process and needs no
// privileges. Errors: kUnavailable (seccomp is not permitted here, or this is not Linux).
Result<std::vector<bool>> accepts(std::span<const Program> programs);

}  // namespace secequiv::kernel
