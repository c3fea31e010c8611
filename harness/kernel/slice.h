// The part of a program that given calls execute, so that a filter too long for the kernel can be
// timed on them. Owns how code is removed. It must not know what is measured.
#pragma once

#include <span>

#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// The instructions of `program` that any of `inputs` executes, in order; each input executes the
// same ones as before. A side of a conditional that no input takes leads to some other instruction,
// so the result means nothing for other inputs. Preconditions: all jumps of `program` are in range,
// its last instruction returns (its length does not matter), and `inputs` is not empty.
Program executed_part(ProgramView program, std::span<const SeccompData> inputs);

}  // namespace secequiv::kernel
