// Prints errors. Owns the exit status of an error, and which option or command an error names in
// place of a library's subject. It must not know any command's work.
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
