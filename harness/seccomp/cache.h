// Which system calls the kernel allows without running a filter at all. Owns the kernel's test for
// that, "constant allow": an emulation that knows only nr and arch. It must not know what runs cost
// (coverage/cost.h).
//
// Source: seccomp_is_const_allow, seccomp_cache_prepare_bitmap and seccomp_cache_check_allow
// (kernel/seccomp.c); SECCOMP_ARCH_NATIVE and SECCOMP_ARCH_COMPAT (arch/*/include/asm/seccomp.h).
#pragma once

#include <span>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// The kernel's NR_syscalls for `arch`, as new as the tables: the bitmap's size. 0 where there is
// none: mips64 does not take part, and x32 numbers lie above x86_64's bitmap.
std::uint32_t cached_numbers(Arch arch);

// Bit nr: the kernel allows number nr on `arch` without running `program`. cached_numbers(arch)
// bits; numbers from there on always run it. Any program at all may be asked about; one that the
// kernel refuses has no bitmap.
std::vector<bool> cacheable(ProgramView program, Arch arch);

// The same of filters stacked on each other: all have to agree. `filters` not empty.
std::vector<bool> cacheable(std::span<const ProgramView> filters, Arch arch);
// The same for a kernel that has `numbers` numbers.
std::vector<bool> cacheable(std::span<const ProgramView> filters, Arch arch, std::uint32_t numbers);

}  // namespace secequiv
