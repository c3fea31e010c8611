// The view of commands as a command line: tells CLI11 what their declarations say. Owns this
// translation. It must not know any command.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/question.h"

namespace secequiv::cli {

// Declares the command on `app`. If the user names it, it runs, and its exit status is stored in
// `status`. Both must outlive `app`.
CLI::App& declare(Command& command, CLI::App& app, int& status);

}  // namespace secequiv::cli
