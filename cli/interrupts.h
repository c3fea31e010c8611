// Handles interrupts of long commands. Owns what Ctrl-C does. It must not know any command.
#pragma once

#include <string>

#include "harness/base/result.h"

namespace secequiv::cli {

// From now on, the first Ctrl-C (or SIGHUP, SIGTERM) only sets was_interrupted(). A second signal
// ends this process and all processes that it started. If another process sends the same signal
// again within a second, as timeout(1) does, the two count as one.
void watch_interrupts();
bool was_interrupted();
// Like watch_interrupts(), but the first signal also stops proofs. Unfinished proofs are then
// unknown.
void heed_interrupts();
// From now on, the first signal ends the process, because only printing is left.
void answer_is_known();

// While it exists, a signal that would end this process stops the running command under test
// instead. At other times, such a signal ends this process, which may be waiting for its input.
class CommandRun {
 public:
  CommandRun() { heed_interrupts(); }
  ~CommandRun() { answer_is_known(); }
  CommandRun(const CommandRun&) = delete;
  CommandRun& operator=(const CommandRun&) = delete;
};
// Returns the error of a command that a signal or a limit ended. Precondition: stop_wanted().
Error stopped_command(const std::string& command);

}  // namespace secequiv::cli
