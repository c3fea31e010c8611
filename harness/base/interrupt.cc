#include "harness/base/interrupt.h"

#include <utility>

namespace secequiv {
namespace {

std::atomic<bool> everything = false;
static_assert(std::atomic<bool>::is_always_lock_free);

thread_local const StopToken* heeded = nullptr;

}  // namespace

bool stop_wanted() {
  return everything.load(std::memory_order_relaxed) || (heeded != nullptr && heeded->wanted());
}

void want_stop() { everything.store(true, std::memory_order_relaxed); }

StopToken::StopToken() : parent_(heeded) {}

bool StopToken::wanted() const {
  return wanted_.load(std::memory_order_relaxed) || (parent_ != nullptr && parent_->wanted());
}

const StopToken* heeded_token() { return heeded; }

Heed::Heed(const StopToken* token) : before_(std::exchange(heeded, token)) {}
Heed::~Heed() { heeded = before_; }

}  // namespace secequiv
