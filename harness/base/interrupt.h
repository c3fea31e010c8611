// Records whether the user wants this process to stop (Ctrl-C). Owns that one flag, which is global
// because signal dispositions are. Long work checks it wherever it checks the clock and treats it
// like an expired time limit: the answer is unknown. It must not know what work runs.
#pragma once

namespace secequiv {

bool stop_wanted();
// Async-signal-safe. The request cannot be withdrawn.
void want_stop();

}  // namespace secequiv
