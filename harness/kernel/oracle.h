// Linux as an evaluator: what the running kernel says a program returns, on any input. Owns how a
// question becomes programs to install and calls to make. It must not know who asks.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/kernel/traced.h"

namespace secequiv::kernel {

// Whether the kernel can be asked at all. Errors: kUnavailable, and why.
Status available();

// Does this process have a seccomp filter, which its children inherit? True where that is not
// known.
bool is_filtered_already();

// Of the kernel as it is running, not of the one that headers are of: "6.18.5".
std::string release();

// Whether the kernel can be asked about `program`. Errors: kRejected (our check refuses it, or it
// has no room for what makes its answers readable).
Status askable(ProgramView program);

// What `program` returns on each of `inputs`, all 32 bits; 0 (KILL_THREAD) where it divides by
// zero. No call is run. Words of an input may be anything, as calls carry them in place of
// arguments (instrument.h). Errors: those of askable(); kRejected, though it is askable (the kernel
// refuses what our check accepts); kUnavailable (no seccomp or ptrace here), kInternal.
Result<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                            std::span<const SeccompData> inputs);
using Evaluate = std::function<Result<std::vector<std::uint32_t>>(ProgramView program,
                                                                  std::span<const SeccompData>)>;

// The same with loads as they are, for calls that really have these numbers. Only for inputs that
// are as presented() makes them; those that no filter sees (bypasses_filters) are left out: the
// answer to them is empty. Errors: as above; kUnavailable if this process has a filter already,
// which might decide first.
Result<std::vector<std::optional<std::uint32_t>>> evaluate_direct(
    ProgramView program, std::span<const SeccompData> inputs, Entry entry);

// uretprobe and uprobe (335, 336 on x86_64): recent kernels run no filter for them.
// Source: __secure_computing's callers; seccomp_uprobe_exception (kernel/seccomp.c).
bool bypasses_filters(const SeccompData& input, Entry entry);

}  // namespace secequiv::kernel
