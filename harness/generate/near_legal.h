// Owns changes to programs that make the kernel accept or refuse them. It must not know the rules
// of this decision.
#pragma once

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv {

// Changes one to three fields or instructions of `program`. Generates a legal program if `program`
// is empty. The result has at most `room` >= 1 instructions.
Program change_near_legal(Random& random, Program program, std::size_t room);

}  // namespace secequiv
