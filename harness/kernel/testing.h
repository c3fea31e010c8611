// Owns helpers for tests that need the running kernel. It must not know any test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/result.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// The architecture of this program's calls.
#ifdef __aarch64__
inline constexpr Arch kTestHost = Arch::kAarch64;
#else
inline constexpr Arch kTestHost = Arch::kX86_64;
#endif

}  // namespace secequiv

// Skips the test, or fails it if SECEQUIV_REQUIRE_KERNEL is set (.ci/run).
#define SKIP_WITHOUT_KERNEL(result)                                    \
  if (!(result) && (result).error().code == ErrorCode::kUnavailable && \
      std::getenv("SECEQUIV_REQUIRE_KERNEL") == nullptr)               \
  GTEST_SKIP() << (result).error().text()
