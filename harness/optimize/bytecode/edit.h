// Editing a program without breaking its jumps. Owns deletion with fix-up, which every bytecode
// pass goes through.
#pragma once

#include "harness/bpf/flow.h"

namespace secequiv::detail {

// `program` without the instructions marked in `dead`. A jump to a deleted instruction goes to the
// next one kept. Preconditions: a deleted instruction does nothing where it is reached (it just
// falls through), and the last instruction kept is a RET.
Program erase(ProgramView program, const Marks& dead);

// How far behind itself a conditional jump reaches.
inline constexpr std::size_t kReach = 255;

// check_load_and_stores (kernel) lets the set of written M[] words run from a RET into the
// instruction behind it, and only a jump resets it. Putting a RET where a jump stood, deleting a
// dead jump or sending another path somewhere can therefore get a right program refused. Passes
// that do so ask here. Precondition: nothing else can be wrong with the program.
bool refused(ProgramView program);

// Sends the jump at `pc` (of a conditional one: that outcome) to `to`. Precondition: it is within
// reach.
void retarget(Program& program, std::size_t pc, bool taken, std::size_t to);

}  // namespace secequiv::detail
