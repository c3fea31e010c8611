// Interrupts of long commands. Owns what Ctrl-C does. It must not know any command.
#pragma once

namespace secequiv::cli {

// From now on, the first Ctrl-C (or SIGHUP, SIGTERM) only sets was_interrupted(). A second one ends
// this process and all processes that it started.
void watch_interrupts();
bool was_interrupted();
// Like watch_interrupts(), but the first signal also stops proofs. Unfinished proofs are then
// unknown.
void heed_interrupts();
// From now on, the first signal ends the process, because only printing is left.
void answer_is_known();

}  // namespace secequiv::cli
