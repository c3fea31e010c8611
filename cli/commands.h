// Owns the list of commands, one file for each. It must not know what commands do.
#pragma once

#include "cli/question.h"

namespace secequiv::cli {

// Each function declares its command.
#define SECEQUIV_COMMAND(function, name, group) void add_##function(Commands& all);
#include "cli/commands.inc"
#undef SECEQUIV_COMMAND

}  // namespace secequiv::cli
