// Random programs and inputs for them, the same on every platform for one seed. Owns the plain
// generator, in which any instruction may follow any other. It must not know syscalls or policies.
#pragma once

#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/interpreter.h"

namespace secequiv {

// A program of `length` >= 1 instructions that the kernel accepts (the length rule aside): all
// opcodes that seccomp allows, X and scratch memory, joins, chains of jumps, equal returns,
// repeated loads, dead code, jumps of any distance that fits, and sometimes a value in a field that
// the instruction does not use.
Program random_program(Random& random, std::size_t length);

// Inputs near `program`'s constants: each word is a constant of the program, a neighbour of one, an
// extreme, or random.
std::vector<SeccompData> random_inputs(Random& random, ProgramView program, std::size_t count);

}  // namespace secequiv
