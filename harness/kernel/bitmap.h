// The bitmaps that the running kernel itself made of filters (struct action_cache), read from its
// memory by a BPF program. Owns the process that has the filters, and the reading. It must not know
// our emulation (seccomp/cache.h) nor what the bits should be.
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
  std::vector<bool> bits;     // as many
  // Numbers that have a bit even if a filter allows nothing: the kernel lets them pass.
  std::vector<std::uint32_t> unfiltered;
};

// For each stack of filters, the newest first, its bitmaps: of x86_64, and of i386 if this kernel
// has one. Filters are installed as they are, in a process of its own that makes no call
// afterwards. Errors: kRejected (the kernel refuses a filter), kUnavailable (built without libbpf;
// no x86_64; no BTF; the kernel has no such bitmaps; CAP_BPF and CAP_PERFMON are missing, as in
// general everywhere but for root; this process has a filter itself; a filter forbids to install
// the next one, and seccomp cannot be suspended, which takes CAP_SYS_ADMIN and
// CONFIG_CHECKPOINT_RESTORE).
Result<std::vector<std::vector<Bitmap>>> bitmaps(std::span<const std::vector<ProgramView>> stacks);

}  // namespace secequiv::kernel
