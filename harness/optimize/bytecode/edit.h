// Editing a program without breaking its jumps. Owns deletion with fix-up, which every bytecode
// pass goes through.
#pragma once

#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv::detail {

// `program` without the instructions marked in `dead`. A jump to a deleted instruction goes to the
// next one kept. Preconditions: a deleted instruction does nothing where it is reached (it just
// falls through), and the last instruction kept is a RET.
Program erase(ProgramView program, const std::vector<bool>& dead);

}  // namespace secequiv::detail
