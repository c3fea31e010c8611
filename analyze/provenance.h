// Owns the facts about where a report comes from: the command line, its inputs, and the date.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analyze/source.h"
#include "harness/report/page.h"

namespace secequiv {

// Returns these facts. `sides` has the role of each input ("before") and what the input was read
// from. `version` is this tool's version.
std::vector<PageFact> provenance(const std::vector<std::pair<std::string, const Source*>>& sides,
                                 const std::string& version);

}  // namespace secequiv
