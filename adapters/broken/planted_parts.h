// Owns the three parts of the table of planted.h: bugs in rules, in layout and in bytecode. It must
// not know how bugs are found.
#pragma once

#include <vector>

#include "adapters/broken/planted.h"

namespace secequiv::broken {

std::vector<Planted> planted_in_rules();
std::vector<Planted> planted_in_layout();
std::vector<Planted> planted_in_bytecode();

}  // namespace secequiv::broken
