// Owns the Z3 engine's answers about classes of inputs that the kernel cannot tell apart
// (harness/seccomp/input_class.h). It must not know questions about single inputs (solver.h).
#pragma once

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv::smt {

// Answers a question with Sameness::kEffect. The limits and errors are those of prove() in
// solver.h. The witness is not minimized. Precondition: the question has no symbols.
Result<Proof> prove_classes(const Question& question, double timeout_seconds,
                            std::size_t memory_mib = 4096, double spent_seconds = 0);

}  // namespace secequiv::smt
