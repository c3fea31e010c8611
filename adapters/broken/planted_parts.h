// The parts of planted.h's table, by the place of the bug. Owns nothing else.
#pragma once

#include <vector>

#include "adapters/broken/planted.h"

namespace secequiv::broken {

std::vector<Planted> planted_in_rules();
std::vector<Planted> planted_in_layout();
std::vector<Planted> planted_in_bytecode();

}  // namespace secequiv::broken
