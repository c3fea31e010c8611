// Runs a command under test once. Owns how the end of a run becomes an outcome: an output, an
// exceeded limit, an exit status or a signal. It must not know programs or formats.
#pragma once

#include <string>
#include <string_view>

#include "harness/adapter/interfaces.h"
#include "harness/adapter/process.h"

namespace secequiv {

inline constexpr int kUnsupportedStatus = 77;  // automake's status for a skipped test

// Runs `command` with /bin/sh -c on `input` and returns its standard output. It kills the command's
// whole process group when the command exceeds a limit, when it has ended, or when a signal
// (SIGHUP, SIGINT, SIGTERM) ends this process. The outcome is never kRefused or kGarbage. If `file`
// is set and the command consists of plain words, it executes this file without the shell; that
// halves the cost of a short command. If the file cannot be executed, the shell runs.
Answer<std::string> run_command(const std::string& command, std::string_view input,
                                const AdapterLimits& limits, const std::string& file = {});

// Runs a command like run_command(). If `command` contains the placeholder {}, the placeholder
// stands for a file named `name` that contains the input, and standard input is empty.
Answer<std::string> run_command_on_file(const std::string& command, std::string_view input,
                                        const std::string& name, const AdapterLimits& limits);

// Returns the file that the shell executes for the first word of `command`, or an empty string if
// it executes none or if the word is not plain.
std::string file_of_command(const std::string& command, const AdapterLimits& limits);

// Returns the outcome of a process that did not exit cleanly: kCannotRun, kExhausted if memory ran
// out, else kCrashed. For kExhausted, adds the limit to `how`; if it was the limit of our own work,
// this work is to stop, too.
Outcome failed(const Ending& ending, const ErrorTail& tail, std::string& how);

}  // namespace secequiv
