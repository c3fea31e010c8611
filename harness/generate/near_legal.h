// Makes programs that the kernel only just accepts or refuses. Owns the choice of changes. It must
// not know which rule refuses a program.
#pragma once

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv {

// Changes one to three fields or instructions of `program`. If `program` is empty, and sometimes
// otherwise, it changes a newly generated legal program instead. The result has at most `room`
// instructions. Precondition: `room` is at least 1.
Program change_near_legal(Random& random, Program program, std::size_t room);

}  // namespace secequiv
