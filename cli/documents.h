// The options that replace a command (--explain, --print-schema and --list-options), and --color,
// which stands before a command. Owns how they are parsed and what they print.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>

namespace secequiv::cli {

// Declares these options for the help. CLI11 parses only --color, because it would take the value
// of the other options for a command, such as `check` in `--explain check`.
void add_documents(CLI::App& app);

// Prints the document that the command line names. Returns its exit status, or nothing if the
// command line does not begin with such an option.
std::optional<int> print_document(const CLI::App& app, std::span<char* const> arguments);

}  // namespace secequiv::cli
