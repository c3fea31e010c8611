// Describes the command line as JSON. Owns the format of this description, from which scripts make
// the reference, man pages and completions. It must not know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/question.h"
#include "harness/report/page.h"

namespace secequiv::cli {

// Returns every visible command and option of `app`.
nlohmann::ordered_json describe_commands(const CLI::App& app);

// Returns the options of a command that were given or have a default.
std::vector<PageOption> options_of(const Command& command);

}  // namespace secequiv::cli
