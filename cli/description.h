// The command line's description of itself as JSON. Owns that shape, from which scripts make the
// reference, man pages and completions. It must not know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace secequiv::cli {

// Returns every visible command and option of `app`.
nlohmann::ordered_json describe_commands(const CLI::App& app);

}  // namespace secequiv::cli
