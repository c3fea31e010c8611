// Where a report comes from: the command line, its inputs and the date. Owns that list.
#pragma once

#include <utility>
#include <vector>

#include "analyze/source.h"
#include "harness/report/page.h"

namespace secequiv::cli {

// `sides`: the role of each input ("before") and what it was read from.
std::vector<PageFact> provenance(const std::vector<std::pair<std::string, const Source*>>& sides);

}  // namespace secequiv::cli
