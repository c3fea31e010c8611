// A program without what given calls do not execute, so that a filter too long for the kernel can
// be timed on them. Owns how code is left out. It must not know what is measured.
#pragma once

#include <span>

#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// What `program` executes on any of `inputs`, in its order, each input by the same instructions as
// before. Sides of a conditional that no input takes lead to whatever comes after the next
// instruction, so the result decides nothing about other inputs. Preconditions: all jumps of
// `program` are in range and its last instruction returns (its length is free); `inputs` not empty.
Program executed_part(ProgramView program, std::span<const SeccompData> inputs);

}  // namespace secequiv::kernel
