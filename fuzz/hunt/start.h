// Owns the question of whether code under test can be started at all. It must not know what a wrong
// answer is.
#pragma once

#include <string>

#include "fuzz/hunt/hunt.h"

namespace secequiv::hunt {

// Sends one small request. Returns why the code under test cannot be run, or an empty text. Any
// other failure is for a hunt to find.
std::string why_not_started(const Target& target);
std::string why_not_started(Evaluator& evaluator);

}  // namespace secequiv::hunt
