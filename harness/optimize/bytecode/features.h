// Checks whether a program contains anything that a pass could change. Owns these quick checks,
// which avoid most runs of passes. It must not know the passes.
#pragma once

#include "harness/bpf/insn.h"

namespace secequiv::detail {

// Precondition of each: the kernel accepts the program, except for its length.
bool has_jumps(ProgramView program);          // has an unconditional jump
bool has_null_jumps(ProgramView program);     // has an unconditional jump to the next instruction
bool has_equal_targets(ProgramView program);  // has a conditional jump with equal targets
bool loads_again(ProgramView program);        // loads some word twice

}  // namespace secequiv::detail
