// Makes a finding small: the program or policy, then the input; then finds the pass to blame. Owns
// what must stay true meanwhile.
#pragma once

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// The same kind of finding on a subject as small as the time allows, with its answer, witness and
// sentence, and the pass to blame if the optimizer tells. `finding.reduced` says whether nothing
// smaller was found (false: time or calls ran out first). A finding that does not show again when
// asked a second time is returned as it is, which its sentence then says. Errors: kInternal of the
// prover.
Result<Finding> reduce(const Target& target, const Finding& finding, const HuntOptions& options);

// Is the finding's kind what comes of `subject`? Its assessment if so.
Result<std::optional<Problem>> shows(const Target& target, FindingKind kind,
                                     const HuntSubject& subject, Answer<Program>& answer,
                                     std::span<const InputWords> inputs,
                                     const HuntOptions& options);

}  // namespace secequiv::hunt
