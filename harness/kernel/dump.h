// Filters of other processes: those that one has, and those that a command installs. Owns the
// tracing. It must not know forms of programs.
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

// The filters of process (or thread) `pid`, the newest first; empty if it has none. It is stopped
// meanwhile.
// Errors: kUsage (no such process, or one that is not stopped in time), kUnavailable (this takes
// CAP_SYS_ADMIN and a kernel with CONFIG_CHECKPOINT_RESTORE; a process that is traced already).
Result<std::vector<Program>> filters_of(pid_t pid);

// Threads of process `pid` that have another number of filters than the thread `pid` itself, with
// that number: what filters_of() does not see.
std::vector<std::pair<pid_t, std::size_t>> threads_with_other_filters(pid_t pid);

// A filter that a process installed.
struct Installed {
  pid_t pid = 0;
  std::string command;  // the process' name (comm)
  Program program;
};

struct Recorded {
  std::vector<Installed> filters;  // in the order of installation
  std::size_t unreadable = 0;      // filters that were installed besides those
  int status = 0;                  // the command's exit status; 128 + N if signal N ended it
  bool interrupted = false;        // `stop` ended it
};

// Runs `command` (not empty; found as execvp finds it) with everything that it starts, and takes
// down every filter that is installed on the way. Needs no privileges. `stop` is asked whenever
// something happens; the processes are killed when it says so. `to_stderr`: what they print goes to
// standard error, standard output being somebody else's. Errors: kUsage (it cannot be
// started), kUnavailable (ptrace is not permitted here; this machine is no x86_64 Linux).
Result<Recorded> record(const std::vector<std::string>& command, bool to_stderr = false,
                        const std::function<bool()>& stop = {});

}  // namespace secequiv::kernel
