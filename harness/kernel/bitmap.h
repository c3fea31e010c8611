// The bitmaps that the running kernel computes for filters (struct action_cache), read from its
// memory by a BPF program. Owns the process that has the filters and the BPF program. It must not
// know our emulation (seccomp/cache.h) nor what the bits should be.
//
// Source: seccomp_cache_prepare (kernel/seccomp.c); bpf_prog_test_run_syscall (net/bpf/test_run.c).
#pragma once

#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"
#include "harness/seccomp/arch.h"

namespace secequiv::kernel {

struct Bitmap {
  Arch arch = Arch::kX86_64;
  std::uint32_t numbers = 0;  // the kernel's NR_syscalls for `arch`
  std::vector<bool> bits;     // `numbers` bits
  // Numbers whose bit is set even for a filter that allows nothing: the kernel never filters them.
  std::vector<std::uint32_t> unfiltered;
};

// Returns the bitmaps of each stack of filters (newest first): for x86_64, and for i386 if this
// kernel has one. A separate process installs the filters unchanged and makes no call afterwards.
// Errors: kRejected if the kernel refuses a filter; kUnavailable if
//   - this build has no libbpf, or the machine is not x86_64;
//   - the kernel has no BTF or no such bitmaps;
//   - this process lacks CAP_BPF and CAP_PERFMON, which usually only root has;
//   - this process has a filter itself;
//   - a filter forbids seccomp(), and this process cannot suspend it: that needs CAP_SYS_ADMIN and
//     CONFIG_CHECKPOINT_RESTORE.
Result<std::vector<std::vector<Bitmap>>> bitmaps(std::span<const std::vector<ProgramView>> stacks);

}  // namespace secequiv::kernel
