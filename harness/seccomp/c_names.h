// The names of Linux headers that filters written in C use. Owns which of them are known; what they
// are worth comes from arch.h, action.h and data.h.
#pragma once

#include "harness/bpf/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// SECCOMP_RET_*, AUDIT_ARCH_*, __NR_* and SYS_* on `arch`, __X32_SYSCALL_BIT, the constants of
// constant_value if 32 bits hold them, and offsetof(struct seccomp_data, ...).
CNames c_names(Arch arch);

}  // namespace secequiv
