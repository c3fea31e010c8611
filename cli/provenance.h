// Where a report comes from: the command line, its options and inputs, and the date. Owns these
// lists.
#pragma once

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "analyze/source.h"
#include "harness/report/page.h"

namespace secequiv::cli {

// `sides`: the role of each input ("before") and what it was read from.
std::vector<PageFact> provenance(const std::vector<std::pair<std::string, const Source*>>& sides);

// The options of a command that were given or have a default.
std::vector<PageOption> options_of(const CLI::App& command);

}  // namespace secequiv::cli
