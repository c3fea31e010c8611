// Owns the answers to questions about classes of inputs that the kernel cannot tell apart
// (Sameness::kEffect). It must not know single inputs' questions (decide.h).
#pragma once

#include "verify/decide/decide.h"

namespace secequiv {

// Answers a question with Sameness::kEffect. Only the diagrams and Z3 know classes. If the diagrams
// give up, filters that every engine proves the same for single inputs are also the same for
// classes; otherwise Z3 decides. Errors: those of decide(), and kUsage for an engine that does not
// know classes, or for a question with names in place of numbers.
Result<Proof> decide_classes(const Question& question, const Engine& engine, const Budget& budget);

}  // namespace secequiv
