// Prints messages about wrong command lines: CLI11's messages, and suggestions for unknown names.
// Owns their exit status. It must not know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace secequiv::cli {

// Prints CLI11's message, or the text of --help or --version. Returns 0 if it wrote one of these
// texts, else 2.
int print_usage(const CLI::App& app, const CLI::Error& error);

// Prints an error about the command line, and how to get help about `command` ("": about all).
// Returns 2.
int print_usage_error(const std::string& problem, const std::string& command = "");

}  // namespace secequiv::cli
