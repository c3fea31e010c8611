// The built-in optimizer's passes and their effect, as text. Owns these two shapes. It must not run
// passes.
#pragma once

#include <span>
#include <string>

#include "harness/optimize/optimizer.h"

namespace secequiv {

// Returns a line for each pass, with its kind and law. `option` is how users name passes.
std::string passes_text(std::string_view option);

// Returns a line for each step that changed something: "round 1 thread-jumps 170 -> 150
// instructions".
std::string steps_text(std::span<const PassStep> steps);

}  // namespace secequiv
