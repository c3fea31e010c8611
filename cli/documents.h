// Man pages and shell completions, made of what CLI11 knows of the command line. Owns their
// formats. It must not know any command: what is declared appears, and nothing else.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/base/result.h"

namespace secequiv::cli {

// In roff: of the whole program, or of a subcommand (by name). Errors: kUsage, no such subcommand.
Result<std::string> man_page(const CLI::App& app, const std::string& command);

// For "bash", "zsh" or "fish". Errors: kUsage, another shell.
Result<std::string> completion(const CLI::App& app, const std::string& shell);

// All of them, where systems look for them under `folder` (such as /usr/share).
Status write_documents(const CLI::App& app, const std::string& folder);

}  // namespace secequiv::cli
