// Names on a command line that do not exist. Owns the sentences about them, with similar names. It
// must not know any command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace secequiv::cli {

// Returns the command that the command line names, or null if there is no such command.
const CLI::App* command_of(const CLI::App& app);

// Returns whether an architecture has a system call with this name, which may be ARCH:NAME.
bool is_call(std::string_view name);

// Returns a sentence about an option, command or argument that does not exist, or "".
std::string unknown_name(const CLI::App& app);

}  // namespace secequiv::cli
