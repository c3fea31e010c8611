// The options that replace a command (--explain, --print-schema and --list-options), and --color,
// which stands before a command. Owns how they are parsed and what they print.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace secequiv::cli {

// Declares these options. An option that replaces a command stores its exit status in `done`.
void add_documents(CLI::App& app, std::optional<int>& done);

// Each of these options takes at most one value. Returns the option that has more, or nothing.
std::string beside_a_document(std::span<char* const> arguments);

// Returns the arguments as CLI11 understands them. `help COMMAND` becomes `COMMAND --help`, and the
// value of --explain or --print-schema is joined to its option. Otherwise CLI11 would take a value
// such as `check` for the command.
std::vector<std::string> understood(std::span<char* const> arguments);

}  // namespace secequiv::cli
