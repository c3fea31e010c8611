// Linux as an evaluator: what a program returns in the running kernel, on any input. Owns which
// programs are installed and which calls are made for that. It must not know its callers.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/kernel/traced.h"

namespace secequiv::kernel {

// Can programs run in this kernel at all? Errors: kUnavailable, with the reason.
Status available();

// Does this process have a seccomp filter, which its children inherit? True if unknown.
bool is_filtered_already();

// The running kernel's release, which may not be that of the headers: "6.18.5".
std::string release();

// Can the kernel run `program`? Errors: kRejected (our check refuses it, or it has no room for the
// instructions that make its result readable).
Status askable(ProgramView program);

// All 32 bits that `program` returns on each of `inputs`; 0 (KILL_THREAD) for a division by zero.
// No call runs. Words of an input can have any value, because arguments carry them (instrument.h).
// Errors: those of askable(); kRejected (the kernel refuses what our check accepts); kUnavailable
// (no seccomp or ptrace here); kInternal.
Result<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                            std::span<const SeccompData> inputs);
using Evaluate = std::function<Result<std::vector<std::uint32_t>>(ProgramView program,
                                                                  std::span<const SeccompData>)>;

// Does the same as evaluate() for real calls, with unchanged loads. Precondition: presented() made
// the inputs. The result is empty for inputs that no filter sees (bypasses_filters). Errors: as
// above; kUnavailable if this process has a filter already, which might decide first.
Result<std::vector<std::optional<std::uint32_t>>> evaluate_direct(
    ProgramView program, std::span<const SeccompData> inputs, Entry entry);

// Is it uretprobe or uprobe (335, 336 on x86_64)? Recent kernels run no filter for them.
// Source: __secure_computing's callers; seccomp_uprobe_exception (kernel/seccomp.c).
bool bypasses_filters(const SeccompData& input, Entry entry);

}  // namespace secequiv::kernel
