// Records requests to stop: the user's request to stop the process (Ctrl-C), requests to stop the
// work of one thread, and the limits of a whole command. Owns the flags; the first is global
// because signal dispositions are. All work that is linear in its input, or longer, asks
// stop_wanted() again and again; if it stops, the answer is unknown. It must not know what work
// runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/base/clock.h"

namespace secequiv {

// Returns whether the work of this thread should stop. Once true, it stays true until
// start_limits().
bool stop_wanted();
// Returns how many pieces of work, of up to `steps` short steps each, may run between two looks.
constexpr std::size_t between_looks(std::size_t steps) {
  return 1 + (std::size_t{1} << 16) / (steps + 1);
}
// Returns why, with the limit that was reached. Precondition: stop_wanted().
std::string stop_reason();
// Returns whether the limits allow this thread to take so many more bytes. Work asks before it
// makes a table whose size depends on its input.
bool memory_fits(std::size_t bytes);
// Returns how many more bytes the limits allow this thread, for a process that works for it.
std::size_t memory_left();
// Notes that such a process needed more: the memory limit is reached.
void memory_ran_out();
// Async-signal-safe. The request cannot be withdrawn.
void want_stop();

// Limits of all the work of a command together.
struct WorkLimits {
  static constexpr std::size_t kAnyMemory = ~std::size_t{0};
  double seconds = 1e9;
  std::size_t mib = kAnyMemory;
  bool of_children = true;  // also of processes that they start, which have limits of their own
};

// A request to stop for the threads that heed this token. The token must outlive them.
class StopToken {
 public:
  // Whatever stops the thread that makes the token also stops the threads that heed it.
  explicit StopToken(const WorkLimits& limits = {});
  StopToken(const StopToken&) = delete;
  StopToken& operator=(const StopToken&) = delete;

  void stop() { wanted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool wanted() const;
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] bool fits(std::size_t bytes) const;
  [[nodiscard]] std::size_t left() const;
  void ran_out() const;
  // Measures time and memory from now on, also for the tokens above.
  void start() const;

 private:
  enum class Over : std::uint8_t { kNothing, kTime, kMemory };

  void start_alone() const;
  [[nodiscard]] bool over() const;
  [[nodiscard]] std::size_t left_alone() const;
  [[nodiscard]] bool lacks(std::size_t bytes) const;

  const WorkLimits limits_;
  std::atomic<bool> wanted_ = false;
  const StopToken* parent_;
  mutable std::atomic<Over> over_ = Over::kNothing;
  mutable std::atomic<Clock::rep> start_ = 0;
  mutable std::atomic<Clock::rep> next_look_ = 0;  // at the memory
  mutable std::atomic<std::size_t> bytes_ = 0;     // in use at the start
};

// Starts the limits of this thread's work: what ran before, such as reading the inputs, does not
// count.
void start_limits();

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
