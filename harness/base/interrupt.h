// Whether the user wants this process to stop (Ctrl-C). Owns that one flag, which belongs to the
// process, as signal dispositions do. Long work checks it where it checks the clock, and treats it
// like a limit that ran out: the answer is unknown.
#pragma once

namespace secequiv {

bool stop_wanted();
// Async-signal-safe. It cannot be undone.
void want_stop();

}  // namespace secequiv
