// Transitional: everything that a command's file uses.
#pragma once

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
