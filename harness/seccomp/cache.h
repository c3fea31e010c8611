// Computes which system calls the kernel allows without running a filter. Owns the kernel's test
// for that, "constant allow": an emulation that knows only nr and arch. It must not know what a run
// costs (coverage/cost.h).
//
// Source: seccomp_is_const_allow, seccomp_cache_prepare_bitmap and seccomp_cache_check_allow
// (kernel/seccomp.c); SECCOMP_ARCH_NATIVE and SECCOMP_ARCH_COMPAT (arch/*/include/asm/seccomp.h).
#pragma once

#include <span>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// Returns the size of the bitmap: the kernel's NR_syscalls for `arch`, taken from the tables. It is
// 0 for mips64, which has no bitmap, and for x32, whose numbers lie above x86_64's bitmap.
std::uint32_t cached_numbers(Arch arch);

// Returns cached_numbers(arch) bits. Bit nr is set if the kernel allows call nr on `arch` without
// running `program`. Calls with larger numbers always run it. Every program is a valid argument,
// although the kernel builds no bitmap for a program that it refuses.
std::vector<bool> cacheable(ProgramView program, Arch arch);

// Returns the bits for stacked filters: a bit is set if it is set for every filter. Precondition:
// `filters` is not empty.
std::vector<bool> cacheable(std::span<const ProgramView> filters, Arch arch);
// Returns the bits for a kernel whose bitmap has `numbers` bits.
std::vector<bool> cacheable(std::span<const ProgramView> filters, Arch arch, std::uint32_t numbers);

}  // namespace secequiv
