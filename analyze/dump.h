// Reads the filters of a process, or those that a command installs. Owns their titles and the notes
// for people. It must not know files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/report/dump.h"

namespace secequiv {

// Returns the filters of the process, newest first. Errors: those of kernel::filters_of().
Result<DumpReport> dump_process(int pid);

// Runs `command` and records its filters in the order of installation, until `stop` returns true.
// With `to_stderr`, the command's output goes to standard error. Errors: those of kernel::record().
Result<DumpReport> dump_command(const std::vector<std::string>& command, bool to_stderr,
                                const std::function<bool()>& stop);

}  // namespace secequiv
