// Records requests to stop: the user's request to stop the process (Ctrl-C), and requests to stop
// the work of one thread. Owns both flags; the first is global because signal dispositions are.
// Long work checks them wherever it checks the clock and treats them like an expired time limit:
// the answer is unknown. It must not know what work runs.
#pragma once

#include <atomic>

namespace secequiv {

// Returns whether the work of this thread should stop.
bool stop_wanted();
// Async-signal-safe. The request cannot be withdrawn.
void want_stop();

// A request to stop for the threads that heed this token. The token must outlive them.
class StopToken {
 public:
  // Whatever stops the thread that makes the token also stops the threads that heed it.
  StopToken();
  StopToken(const StopToken&) = delete;
  StopToken& operator=(const StopToken&) = delete;

  void stop() { wanted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool wanted() const;

 private:
  std::atomic<bool> wanted_ = false;
  const StopToken* parent_;
};

// Returns the token that this thread heeds, so that its helper threads can heed it too; nullptr if
// there is none.
const StopToken* heeded_token();

// While this object exists, this thread heeds `token`, which may be nullptr.
class Heed {
 public:
  explicit Heed(const StopToken* token);
  ~Heed();
  Heed(const Heed&) = delete;
  Heed& operator=(const Heed&) = delete;

 private:
  const StopToken* before_;
};

}  // namespace secequiv
