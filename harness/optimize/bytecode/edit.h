// Edits a program without breaking its jumps. Owns deletion with repair of jumps, which every
// bytecode pass uses. It must not know the passes.
#pragma once

#include "harness/bpf/flow.h"

namespace secequiv::detail {

// Returns `program` without the instructions marked in `dead`. A jump to a deleted instruction goes
// to the next one that stays. Preconditions: a deleted instruction is unreachable, or only falls
// through and has no effect, and the last instruction that stays is a RET.
Program erase(ProgramView program, const Marks& dead);

// Returns whether the kernel would refuse a read of M[]. The kernel's check_load_and_stores carries
// the set of written words past a RET into the next instruction; only jumps reset it. Therefore it
// may refuse a correct program after a pass replaces a jump by a RET, deletes a dead jump or
// redirects a path. Such passes call this function. Precondition: the program is legal otherwise.
bool refused(ProgramView program);

// Redirects the jump at `pc` to `to`. For a conditional jump it changes only the side `taken`.
// Precondition: `to` is within reach.
void retarget(Program& program, std::size_t pc, bool taken, std::size_t to);

}  // namespace secequiv::detail
