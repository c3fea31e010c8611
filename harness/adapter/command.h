// Runs a command under test once. Owns the outcome of a run: its output, or the limit, exit status
// or signal that ended it. It must not know programs or formats.
#pragma once

#include <string>
#include <string_view>

#include "harness/adapter/interfaces.h"
#include "harness/adapter/process.h"

namespace secequiv {

inline constexpr int kUnsupportedStatus = 77;  // automake's status for a skipped test

// Runs `command` with /bin/sh -c on `input` and returns its standard output. The command and its
// descendants are killed when it exceeds a limit, when it has ended, and when a signal (SIGHUP,
// SIGINT, SIGTERM) ends this process. The outcome is never kRefused or kGarbage.
Answer<std::string> run_command(const std::string& command, std::string_view input,
                                const AdapterLimits& limits);

// Classifies an end that is not a clean exit: kCannotRun, kExhausted if memory ran out, else
// kCrashed.
Outcome outcome_of(const Ending& ending, const ErrorTail& tail, std::size_t memory_bytes);
// The sentence that describes that end.
std::string failure_text(Outcome outcome, const Ending& ending, const ErrorTail& tail,
                         std::size_t memory_bytes);

}  // namespace secequiv
