// Process groups that must not outlive this process. Owns the registry that signal handlers read;
// it is global, because signal dispositions are. A signal that ends this process (SIGHUP, SIGINT,
// SIGTERM) first kills every registered group, whichever thread started it. It must not know what
// the groups run.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace secequiv {

// One entry in the registry. While an entry exists, a signal that would end this process by default
// kills the groups first.
class GroupSlot {
 public:
  GroupSlot();
  ~GroupSlot();
  GroupSlot(const GroupSlot&) = delete;
  GroupSlot& operator=(const GroupSlot&) = delete;

  // Registers `group`. Async-signal-safe, and safe in a child of vfork. Returns false if an ending
  // signal has already arrived; the group's leader must then exit itself.
  [[nodiscard]] bool set(pid_t group);
  void clear();

  struct Node;

 private:
  Node* node_;
};

// Removes the program's own handlers of ending signals, so that the next signal kills the groups
// and has its default effect. Async-signal-safe.
void end_groups_on_next_signal();

// Blocks SIGPIPE in this thread for the lifetime of the object. A write() to a closed pipe then
// fails and does not end this process.
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
