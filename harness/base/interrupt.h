// Whether the user wants this process to come to an end (Ctrl-C). Owns that one flag, which is
// state of the process, as signal dispositions are. What takes long looks at it where it looks at
// the clock, and treats it like a limit that ran out: the answer is unknown.
#pragma once

namespace secequiv {

bool stop_wanted();
// Async-signal-safe. There is no way back.
void want_stop();

}  // namespace secequiv
