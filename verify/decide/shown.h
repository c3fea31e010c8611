// Owns looking for a difference by running inputs derived from the programs. It must not know
// engines.
#pragma once

#include <optional>

#include "harness/compare/question.h"

namespace secequiv {

// Returns the first derived input that violates the goal, if any; nothing for questions with
// symbols. The work is bounded and takes milliseconds.
std::optional<Witness> shown_by_inputs(const Question& question);

}  // namespace secequiv
