// The options that take the place of a command: --explain, --print-schema and --list-options; and
// --color, which goes before a command. Owns how they are parsed and what they print.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace secequiv::cli {

// Declares them. `done` gets the exit status of one that takes the place of a command.
void add_documents(CLI::App& app, std::optional<int>& done);

// They have at most one value. Returns the option that more follows, or nothing.
std::string beside_a_document(std::span<char* const> arguments);

// Returns the arguments as CLI11 understands them. `help COMMAND` becomes `COMMAND --help`, and the
// value of --explain or --print-schema is joined to its option. Otherwise CLI11 would take a value
// such as `check` for the command.
std::vector<std::string> understood(std::span<char* const> arguments);

}  // namespace secequiv::cli
