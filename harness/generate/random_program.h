// Random programs and inputs for them. A seed gives the same results on every platform. Owns the
// plain generator, in which any instruction may follow any other. It must not know syscalls or
// policies.
#pragma once

#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/interpreter.h"

namespace secequiv {

// Generates a program of `length` >= 1 instructions that the kernel accepts, except for its length.
// It may have all opcodes that seccomp allows, X and scratch memory, joins, chains of jumps, equal
// returns, repeated loads, dead code, jumps of any distance that fits, and sometimes a value in a
// field that the instruction does not use.
Program random_program(Random& random, std::size_t length);

// Generates inputs near the constants of `program`: each word is a constant, a neighbour of one, an
// extreme value, or random.
std::vector<SeccompData> random_inputs(Random& random, ProgramView program, std::size_t count);

}  // namespace secequiv
