// Resolves the names of Linux headers that filters in C use. Owns the list of known names; their
// values come from arch.h, action.h and data.h. It must not know how C text is read.
#pragma once

#include "harness/bpf/text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// Knows SECCOMP_RET_*, AUDIT_ARCH_*, __NR_* and SYS_* on `arch`, __X32_SYSCALL_BIT, the constants
// of constant_value() that fit in 32 bits, and offsetof(struct seccomp_data, ...).
CNames c_names(Arch arch);

}  // namespace secequiv
