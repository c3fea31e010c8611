// Process groups that must not outlive this process. Owns the registry that signal handlers read,
// which is global like signal dispositions. A signal that ends this process (SIGHUP, SIGINT,
// SIGTERM) first kills every registered group, whichever thread started it.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace secequiv {

// One entry in the registry. While any exists, an ending signal with the default effect kills the
// groups first.
class GroupSlot {
 public:
  GroupSlot();
  ~GroupSlot();
  GroupSlot(const GroupSlot&) = delete;
  GroupSlot& operator=(const GroupSlot&) = delete;

  // Async-signal-safe; a child of vfork calls it too. Returns false if an ending signal has already
  // arrived; the leader of the group must then end by itself.
  [[nodiscard]] bool set(pid_t group);
  void clear();

  struct Node;

 private:
  Node* node_;
};

// Removes the program's own handlers of ending signals, so that the next signal kills the groups
// and has its default effect. Async-signal-safe.
void end_groups_on_next_signal();

// Blocks SIGPIPE in this thread while it exists, so that a closed pipe is an error of write() and
// does not end this process.
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
