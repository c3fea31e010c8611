// Changes to arrays of instructions that lead across the border between what the kernel accepts and
// what it refuses. Owns these changes. It must not know the rules that draw the border.
#pragma once

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

// `program` with one to four fields or instructions changed; at most `room` >= 1 instructions. A
// generated program, legal, if there is none.
Program change_near_legal(Random& random, Program program, std::size_t room);

}  // namespace secequiv::fuzz
