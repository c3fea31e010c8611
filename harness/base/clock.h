// Measures elapsed time. Owns the choice of the clock. It must not know what is timed.
#pragma once

#include <chrono>

namespace secequiv {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace secequiv
