// Owns the list of options that name output files. Makes sure that no output destroys an input or
// another output.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "harness/base/result.h"

namespace secequiv::cli {

// Throws CLI::ValidationError if an output of the command would replace a file that the command
// line names for another purpose, or if a certificate would replace a file that is not a
// certificate.
void keep_outputs_apart(const CLI::App& command);

// Checks that no output of the command would replace `path`, a file that an input includes. Errors:
// kUsage.
Status keep_outputs_off(const CLI::App& command, const std::string& path);

}  // namespace secequiv::cli
