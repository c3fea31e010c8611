// Linux as an evaluator: the value that a program returns in a kernel, for any input. Owns the
// choice of the programs to install and of the calls to make. It must not know its callers nor
// where the kernel runs.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/kernel/running.h"

namespace secequiv::kernel {

// Checks whether programs can run in this kernel. Errors: kUnavailable, with the reason.
Status available(Kernel& kernel = running());

// Checks whether a kernel can run `program`. Errors: kRejected (our check refuses it, or it has no
// room for the instructions that make its result readable).
Status askable(ProgramView program);

// Returns all 32 bits of the value of `program` for each of `inputs`; 0 (KILL_THREAD) for a
// division by zero. No call runs. Words of an input can have any value, because arguments carry
// them (instrument.h). Errors: those of askable(); kRejected (the kernel refuses what our check
// accepts); those of Kernel::ask().
Result<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                            std::span<const SeccompData> inputs,
                                            Kernel& kernel = running());

// Returns the seccomp_data that a filter sees for the call with the number and arguments of `call`:
// the entry's arch and instruction pointer, and the bits that the kernel reads.
SeccompData presented(const SeccompData& call, const Entry& entry,
                      std::uint64_t instruction_pointer);

// Like evaluate(), but makes real calls and leaves loads unchanged. Precondition: presented()
// returned the inputs. The result is empty for calls that are left out (bypasses_filters,
// sees_stack). Errors: those of evaluate(); those of Kernel::unfiltered().
Result<std::vector<std::optional<std::uint32_t>>> evaluate_direct(
    ProgramView program, std::span<const SeccompData> inputs, const Entry& entry, Kernel& kernel);

}  // namespace secequiv::kernel
