// Linux as an evaluator: the value that a program returns in the running kernel, for any input.
// Owns the choice of the programs to install and of the calls to make. It must not know its
// callers.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/kernel/traced.h"

namespace secequiv::kernel {

// Checks whether programs can run in this kernel. Errors: kUnavailable, with the reason.
Status available();

// Returns whether this process has a seccomp filter, which its children would inherit. Returns true
// if that is unknown.
bool is_filtered_already();

// Returns the release of the running kernel (not of the headers): "6.18.5".
std::string release();

// Checks whether the kernel can run `program`. Errors: kRejected (our check refuses it, or it has
// no room for the instructions that make its result readable).
Status askable(ProgramView program);

// Returns all 32 bits of the value of `program` for each of `inputs`; 0 (KILL_THREAD) for a
// division by zero. No call runs. Words of an input can have any value, because arguments carry
// them (instrument.h). Errors: those of askable(); kRejected (the kernel refuses what our check
// accepts); kUnavailable (no seccomp or ptrace here); kInternal.
Result<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                            std::span<const SeccompData> inputs);
using Evaluate = std::function<Result<std::vector<std::uint32_t>>(ProgramView program,
                                                                  std::span<const SeccompData>)>;

// Like evaluate(), but makes real calls and leaves loads unchanged. Precondition: presented()
// returned the inputs. The result is empty for inputs that no filter sees (bypasses_filters).
// Errors: those of evaluate(); kUnavailable if this process already has a filter, because that
// filter might decide.
Result<std::vector<std::optional<std::uint32_t>>> evaluate_direct(
    ProgramView program, std::span<const SeccompData> inputs, Entry entry);

// Returns whether the call is uretprobe or uprobe (335, 336 on x86_64). Recent kernels run no
// filter for these. Source: __secure_computing's callers; seccomp_uprobe_exception
// (kernel/seccomp.c).
bool bypasses_filters(const SeccompData& input, Entry entry);

}  // namespace secequiv::kernel
