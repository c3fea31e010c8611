// Owns the filter that states an assumption in a certificate: it allows exactly the inputs for
// which the assumption holds. A certificate under an assumption is about two longer programs, which
// first run this filter. It must not know what a certificate contains.
#pragma once

#include "harness/bpf/insn.h"
#include "harness/seccomp/assumption.h"

namespace secequiv::certificate {

// Returns a legal program (except that it may exceed 4096 instructions) that returns
// SECCOMP_RET_ALLOW, by its last instruction and no other, for every input for which the assumption
// holds, and 0 for every other input. It uses neither X nor M[]. `endian` is the byte order of
// 64-bit fields. Precondition: the assumption has no symbols.
Program condition(const Assumption& assumption, Endian endian);

// Returns a program that returns 0 for the inputs that `condition` does not allow, and what
// `program` returns for all other inputs: the condition without its last instruction, two
// instructions that clear A and X, and the program.
Program guarded(ProgramView condition, ProgramView program);

}  // namespace secequiv::certificate
