// Owns reducing a finding: first the program or policy, then the input. It also finds the pass that
// caused it. It decides which condition each reduction must keep. It must not know how answers are
// assessed.
#pragma once

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// Returns the same kind of finding for the smallest subject found in the available time, with its
// answer, witness and sentence, and the pass that caused it if the optimizer reports stages.
// `finding.reduced` is false if time or requests ran out first. A finding that does not occur a
// second time is returned unchanged, with a sentence that states this. Errors: the prover's
// kInternal.
Result<Finding> reduce(const Target& target, const Finding& finding, const HuntOptions& options);

// Returns the problem of kind `kind` that the answer for `subject` has, if there is one.
Result<std::optional<Problem>> shows(const Target& target, FindingKind kind,
                                     const HuntSubject& subject, Answer<Program>& answer,
                                     std::span<const SeccompData> inputs,
                                     const HuntOptions& options);

}  // namespace secequiv::hunt
