// Editing a program without breaking its jumps. Owns deletion with repair of jumps, which every
// bytecode pass uses.
#pragma once

#include "harness/bpf/flow.h"

namespace secequiv::detail {

// `program` without the instructions marked in `dead`. A jump to a deleted instruction goes to the
// next one kept. Preconditions: a deleted instruction has no effect where it is reached (it only
// falls through), and the last instruction kept is a RET.
Program erase(ProgramView program, const Marks& dead);

// The longest forward distance of a conditional jump.
inline constexpr std::size_t kReach = 255;

// Would the kernel refuse a read of M[]? Its check_load_and_stores carries the set of written words
// from a RET into the next instruction, and only jumps reset it. Replacing a jump by a RET,
// deleting a dead jump or redirecting a path can therefore get a correct program refused, so passes
// that do so ask here. Precondition: the program is legal otherwise.
bool refused(ProgramView program);

// Redirects the jump at `pc` to `to`; of a conditional jump, only the side `taken`. Precondition:
// `to` is within reach.
void retarget(Program& program, std::size_t pc, bool taken, std::size_t to);

}  // namespace secequiv::detail
