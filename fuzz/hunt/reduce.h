// Reduces a finding: the program or policy, then the input; then finds the pass that caused it.
// Owns the condition that a reduction must keep. It must not know how answers are assessed.
#pragma once

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// The same kind of finding on a subject as small as the time allows, with its answer, witness and
// sentence, and the pass that caused it if the optimizer reports stages. `finding.reduced` is false
// if time or calls ran out first. A finding that does not occur a second time is returned
// unchanged, with a sentence that states this. Errors: the prover's kInternal.
Result<Finding> reduce(const Target& target, const Finding& finding, const HuntOptions& options);

// The problem of kind `kind` with the answer for `subject`, if there is one.
Result<std::optional<Problem>> shows(const Target& target, FindingKind kind,
                                     const HuntSubject& subject, Answer<Program>& answer,
                                     std::span<const SeccompData> inputs,
                                     const HuntOptions& options);

}  // namespace secequiv::hunt
