// Process groups that must not outlive this process. Owns the one registry that signal handlers
// read (state of the process, as signal dispositions are): what ends this process (SIGHUP, SIGINT,
// SIGTERM) ends every registered group first, from whatever thread it was started.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace secequiv {

// One place in the registry. While any exists, ending signals that had the default effect kill the
// groups before they have it.
class GroupSlot {
 public:
  GroupSlot();
  ~GroupSlot();
  GroupSlot(const GroupSlot&) = delete;
  GroupSlot& operator=(const GroupSlot&) = delete;

  // Async-signal-safe; a child of vfork calls it too. False: an ending signal has arrived already,
  // and whoever leads the group must end by itself.
  [[nodiscard]] bool set(pid_t group);
  void clear();

  struct Node;

 private:
  Node* node_;
};

// For a program with handlers of its own for ending signals: gives them up, so that the next one
// kills the groups and has its default effect. Async-signal-safe.
void end_groups_on_next_signal();

// Keeps SIGPIPE of this thread away for its lifetime: a reader that is gone is an error of write(),
// not the end of this process.
class NoSigpipe {
 public:
  NoSigpipe();
  ~NoSigpipe();
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  bool blocked_here_ = false;
};

}  // namespace secequiv
