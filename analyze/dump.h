// The filters of a process, or those that a command installs, with titles and notes for people.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/report/dump.h"

namespace secequiv {

// The newest filter comes first. Errors: those of kernel::filters_of().
Result<DumpReport> dump_process(int pid);

// Runs `command` and records its filters in the order of installation, until `stop` returns true.
// `to_stderr`: what the command prints goes to standard error. Errors: those of kernel::record().
Result<DumpReport> dump_command(const std::vector<std::string>& command, bool to_stderr,
                                const std::function<bool()>& stop);

}  // namespace secequiv
