#include "harness/base/interrupt.h"

#include <atomic>

namespace secequiv {
namespace {

std::atomic<bool> wanted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

bool stop_wanted() { return wanted.load(std::memory_order_relaxed); }

void want_stop() { wanted.store(true, std::memory_order_relaxed); }

}  // namespace secequiv
