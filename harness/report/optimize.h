// The built-in optimizer's passes and what they changed, as text. Owns these two shapes.
#pragma once

#include <span>
#include <string>

#include "harness/optimize/optimizer.h"

namespace secequiv {

// Every pass with its kind and law, a line each.
std::string passes_text();

// "round 1 thread-jumps    170 -> 150 instructions", a line for each step that changed something.
std::string steps_text(std::span<const PassStep> steps);

}  // namespace secequiv
