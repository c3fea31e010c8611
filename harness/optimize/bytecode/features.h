// What a program must contain for a pass to change anything. Owns these quick checks, which save
// most runs of passes. It must not know the passes.
#pragma once

#include "harness/bpf/insn.h"

namespace secequiv::detail {

// Precondition of each: check() accepts the program (the length rule aside).
bool has_jumps(ProgramView program);          // unconditional ones
bool has_null_jumps(ProgramView program);     // to the next instruction
bool has_equal_targets(ProgramView program);  // of a conditional jump
bool loads_again(ProgramView program);        // the same word

}  // namespace secequiv::detail
