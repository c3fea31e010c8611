// The origin of a report: the command line, its options and inputs, and the date. Owns these lists.
// It must not know how they are shown.
#pragma once

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "analyze/source.h"
#include "harness/report/page.h"

namespace secequiv::cli {

// Returns the facts about the origin. `sides` has the role of each input ("before") and its source.
std::vector<PageFact> provenance(const std::vector<std::pair<std::string, const Source*>>& sides);

// Returns the options of a command that were given or have a default.
std::vector<PageOption> options_of(const CLI::App& command);

}  // namespace secequiv::cli
