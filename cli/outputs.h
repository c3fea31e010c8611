// Makes sure that no output of a command destroys an input or another output.
#pragma once

#include <string>

#include "cli/question.h"
#include "harness/base/result.h"

namespace secequiv::cli {

// Checks that no output of the command would replace a file that the command line names for another
// purpose, and that a certificate would not replace a file that is not a certificate. Errors:
// kUsage.
Status keep_outputs_apart(const Command& command);

// Checks that no output of the command would replace `path`, a file that an input includes. Errors:
// kUsage.
Status keep_outputs_off(const Command& command, const std::string& path);

}  // namespace secequiv::cli
