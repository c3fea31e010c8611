// Reads filters of other processes: those that a process has, and those that a command installs.
// Owns the tracing. It must not know forms of programs.
//
// Source: seccomp_get_filter (kernel/seccomp.c); seccomp(2), prctl(2), ptrace(2).
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"

namespace secequiv::kernel {

// Returns the filters of process (or thread) `pid`, newest first. It stops the process while it
// reads. Errors: kUsage (no such process, or it does not stop in time); kUnavailable (no
// CAP_SYS_ADMIN, a kernel without CONFIG_CHECKPOINT_RESTORE, or a process that is traced already).
Result<std::vector<Program>> filters_of(pid_t pid);

// Returns the threads of process `pid` that have more or fewer filters than thread `pid`, each with
// its number of filters. filters_of() does not see these filters.
std::vector<std::pair<pid_t, std::size_t>> threads_with_other_filters(pid_t pid);

// A filter that a process installed.
struct Installed {
  pid_t pid = 0;
  std::string command;  // the process's name (comm)
  Program program;
};

struct Recorded {
  std::vector<Installed> filters;  // in the order of installation
  std::size_t unreadable = 0;      // filters that were installed but could not be read
  int status = 0;                  // the command's exit status; 128 + N if signal N ended it
  bool interrupted = false;        // `stop` ended the command
};

// Runs `command` (not empty; found as execvp does), and records every filter that the command, or a
// process that it starts, installs. This needs no privileges. record() calls `stop` at every event
// and kills the processes if `stop` returns true. With `to_stderr`, their standard output goes to
// standard error. Errors: kUsage (the command cannot be started); kUnavailable (ptrace is not
// permitted here, or this is not x86_64 Linux).
Result<Recorded> record(const std::vector<std::string>& command, bool to_stderr = false,
                        const std::function<bool()>& stop = {});

}  // namespace secequiv::kernel
