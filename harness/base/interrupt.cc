#include "harness/base/interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/memory.h"

namespace secequiv {
namespace {

std::atomic<bool> everything = false;
static_assert(std::atomic<bool>::is_always_lock_free);

thread_local const StopToken* heeded = nullptr;

// Reading the clock takes nanoseconds, reading the memory microseconds.
constexpr Clock::duration kBetweenLooks = std::chrono::milliseconds(4);
// Code, stacks and the tables of libraries, which no limit should count.
constexpr std::size_t kUncounted = std::size_t{8} << 20;

// Returning less is not worth the time.
constexpr std::size_t kMuch = std::size_t{32} << 20;

Clock::rep now() { return Clock::now().time_since_epoch().count(); }

}  // namespace

bool stop_wanted() {
  return everything.load(std::memory_order_relaxed) || (heeded != nullptr && heeded->wanted());
}

void want_stop() { everything.store(true, std::memory_order_relaxed); }

std::string stop_reason() {
  return heeded != nullptr && !everything.load(std::memory_order_relaxed) ? heeded->reason()
                                                                          : "interrupted";
}

bool memory_fits(std::size_t bytes) { return heeded == nullptr || heeded->fits(bytes); }

std::size_t memory_left() { return heeded == nullptr ? WorkLimits::kAnyMemory : heeded->left(); }

void memory_ran_out() {
  if (heeded != nullptr) heeded->ran_out();
}

void start_limits() {
  if (heeded != nullptr) heeded->start();
}

StopToken::StopToken(const WorkLimits& limits) : limits_(limits), parent_(heeded) { start_alone(); }

void StopToken::start_alone() const {
  if (limits_.mib != WorkLimits::kAnyMemory) {
    bytes_ = memory_in_use();
    if (bytes_ > kMuch) {
      return_freed_memory();
      bytes_ = memory_in_use();
    }
  }
  start_ = now();
  over_ = Over::kNothing;
}

void StopToken::start() const {
  start_alone();
  if (parent_ != nullptr) parent_->start();
}

std::size_t StopToken::left_alone() const {
  if (limits_.mib == WorkLimits::kAnyMemory) return WorkLimits::kAnyMemory;
  const std::size_t most = bytes_ + (limits_.mib << 20) + kUncounted;
  return most - std::min(most, memory_in_use());
}

bool StopToken::lacks(std::size_t bytes) const {
  if (left_alone() >= bytes) return false;
  return_freed_memory();
  return left_alone() < bytes;
}

bool StopToken::over() const {
  if (over_ != Over::kNothing) return true;
  const Clock::rep time = now();
  const std::chrono::duration<double> spent = Clock::duration(time - start_);
  if (spent.count() >= limits_.seconds) {
    over_ = Over::kTime;
  } else if (time >= next_look_) {
    next_look_ = time + kBetweenLooks.count();
    if (lacks(1)) over_ = Over::kMemory;
  }
  return over_ != Over::kNothing;
}

bool StopToken::wanted() const {
  return wanted_.load(std::memory_order_relaxed) || over() ||
         (parent_ != nullptr && parent_->wanted());
}

std::string StopToken::reason() const {
  switch (over_.load()) {
    case Over::kTime:
      return fmt::format("time limit of {} s reached", limits_.seconds);
    case Over::kMemory:
      return fmt::format("memory limit of {} MiB reached", limits_.mib);
    case Over::kNothing:
      break;
  }
  return wanted_ || parent_ == nullptr ? "interrupted" : parent_->reason();
}

bool StopToken::fits(std::size_t bytes) const {
  return !lacks(bytes) && (parent_ == nullptr || parent_->fits(bytes));
}

std::size_t StopToken::left() const {
  const std::size_t own = limits_.of_children ? left_alone() : WorkLimits::kAnyMemory;
  return parent_ == nullptr ? own : std::min(own, parent_->left());
}

void StopToken::ran_out() const {
  if (limits_.mib != WorkLimits::kAnyMemory)
    over_ = Over::kMemory;
  else if (parent_ != nullptr)
    parent_->ran_out();
}

const StopToken* heeded_token() { return heeded; }

Heed::Heed(const StopToken* token) : before_(std::exchange(heeded, token)) {}
Heed::~Heed() { heeded = before_; }

}  // namespace secequiv
