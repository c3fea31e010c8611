// Reduces a finding: first the program or policy, then the input. It also finds the optimizer's
// pass that caused the finding. Owns the condition that each reduction must keep. It must not know
// how answers are assessed.
#pragma once

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// Returns the same kind of finding for the smallest subject found in `seconds` among those that
// `wanted` accepts, with its answer, witness and sentence. The result has the same wrong pass,
// breaks the same rule of the kernel, and has the same two actions. If the optimizer reports
// stages, it also names the pass that caused the finding. `reduced` is false in the result if time
// or requests ran out first. If the finding does not occur a second time, the result is the finding
// itself with a sentence that reports this. Errors: the prover's kInternal.
Result<Finding> reduce(const Target& target, const Finding& finding, const HuntOptions& options,
                       const Wanted& wanted, double seconds);

// Returns the witness's input and, if no prover decides, inputs that depend only on the subject.
std::vector<SeccompData> inputs_like(const HuntSubject& subject,
                                     const std::optional<Witness>& witness,
                                     const HuntOptions& options);

// Returns the first pass whose program for `subject` shows a problem of this kind, or "" if the
// optimizer reports no stages, or stages that do not fit its answer.
Result<std::string> pass_of(const Target& target, FindingKind kind, const HuntSubject& subject,
                            const Answer<Program>& answer, std::span<const SeccompData> inputs,
                            const HuntOptions& options);

}  // namespace secequiv::hunt
