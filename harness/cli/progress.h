// What a command that runs long shows and heeds meanwhile. Owns the status line and what Ctrl-C
// does. It must not know what is going on.
#pragma once

#include <functional>
#include <string>

#include "harness/base/clock.h"

namespace secequiv::cli {

// From now on the first Ctrl-C (or SIGHUP, SIGTERM) is only noted; a second one ends the process
// and whatever it started.
void watch_interrupts();
bool was_interrupted();

// A line on standard error that is written over, on terminals only, at most twice a second. It is
// to be gone before anything else is printed.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::function<std::string()>& text);
  void clear();

 private:
  bool shown_;
  bool written_ = false;
  Clock::time_point last_ = Clock::now();
};

}  // namespace secequiv::cli
