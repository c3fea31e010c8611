// Owns the parts of planted.h's table, divided by the place of the bug.
#pragma once

#include <vector>

#include "adapters/broken/planted.h"

namespace secequiv::broken {

std::vector<Planted> planted_in_rules();
std::vector<Planted> planted_in_layout();
std::vector<Planted> planted_in_bytecode();

}  // namespace secequiv::broken
