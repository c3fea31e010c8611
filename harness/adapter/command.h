// Running somebody else's command: an optimizer or anything that prints a program. Owns process
// handling and its limits. It must not know programs or formats.
#pragma once

#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace secequiv {

struct CommandLimits {
  double seconds = 60;
  std::size_t output_bytes = std::size_t{16} << 20;
};

// Runs `command` with /bin/sh -c, feeds it `input`, returns what it wrote to standard output. Its
// standard error is kept apart. The command and everything it started is killed when a limit is
// exceeded, and when a signal (SIGHUP, SIGINT, SIGTERM) ends this process meanwhile. One command at
// a time. Errors: kAdapter, naming the exit status, signal or limit, with the last lines of its
// standard error.
Result<std::string> run_command(const std::string& command, std::string_view input,
                                const CommandLimits& limits = {});

}  // namespace secequiv
