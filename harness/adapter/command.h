// Running somebody else's command once. Owns what becomes of one run: its output, or which limit,
// exit status or signal ended it. It must not know programs or formats.
#pragma once

#include <string>
#include <string_view>

#include "harness/adapter/interfaces.h"
#include "harness/adapter/process.h"

namespace secequiv {

inline constexpr int kUnsupportedStatus = 77;  // as automake's tests say "skipped"

// Runs `command` with /bin/sh -c, feeds it `input`; the value is what it wrote to standard output.
// Its standard error is kept apart. The command and everything it started is killed when a limit is
// exceeded, when it has ended, and when a signal (SIGHUP, SIGINT, SIGTERM) ends this process
// meanwhile. Never kRefused or kGarbage.
Answer<std::string> run_command(const std::string& command, std::string_view input,
                                const AdapterLimits& limits);

// Classifies an end that is not a clean exit: kCannotRun, kExhausted if memory ran out, else
// kCrashed.
Outcome outcome_of(const Ending& ending, const ErrorTail& tail, std::size_t memory_bytes);
// The sentence that goes with it.
std::string failure_text(Outcome outcome, const Ending& ending, const ErrorTail& tail,
                         std::size_t memory_bytes);

}  // namespace secequiv
