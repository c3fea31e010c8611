// Messages about wrong command lines: CLI11's, and similar names for unknown ones. Owns their exit
// status. It must not know any command.
#pragma once

#include <CLI/CLI.hpp>

namespace secequiv::cli {

// Prints CLI11's message, also the text of --help and --version. Returns 0 for these if it could be
// written, otherwise 2.
int print_usage(const CLI::App& app, const CLI::Error& error);

}  // namespace secequiv::cli
