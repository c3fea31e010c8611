// Prints errors. Owns the options and commands that users know in place of the libraries' subjects,
// and the exit status of an error. It must not know any command's work.
#pragma once

#include "cli/options.h"
#include "harness/base/result.h"

namespace secequiv::cli {

void print_error(const Error& error);
// Returns the error with the option that its subject stands for, and with advice on which command
// helps.
Error named(Error error);
// Prints the error on standard error, as JSON on standard output with --json, and in the report
// files. Returns its exit status.
int report(const Error& found, const Options& options);

}  // namespace secequiv::cli
