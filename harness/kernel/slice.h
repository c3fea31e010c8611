// Cuts out the part of a program that given calls execute, so that a filter that is too long for
// the kernel can be timed on these calls. Owns how code is removed. It must not know what is
// measured.
#pragma once

#include <span>

#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// Returns the instructions of `program` that at least one of `inputs` executes, in order. Each
// input executes the same instructions as before. A side of a conditional jump that no input takes
// leads to an arbitrary instruction, so the result is meaningless for other inputs. Preconditions:
// all jumps of `program` are in range, its last instruction returns, and `inputs` is not empty.
// `program` may have any length.
Program executed_part(ProgramView program, std::span<const SeccompData> inputs);

}  // namespace secequiv::kernel
