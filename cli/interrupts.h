// Interrupts of long commands. Owns what Ctrl-C does. It must not know any command.
#pragma once

namespace secequiv::cli {

// From now on the first Ctrl-C (or SIGHUP, SIGTERM) is only noted; a second one ends the process
// and all processes that it started.
void watch_interrupts();
bool was_interrupted();
// The same, and the first signal also stops proofs; unfinished ones are unknown.
void heed_interrupts();
// Only printing is left: from now on the first signal ends the process.
void answer_is_known();

}  // namespace secequiv::cli
