// Owns a helper for tests that need the running kernel. It must not know any test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/result.h"

// Skips the test, or fails it if SECEQUIV_REQUIRE_KERNEL is set (.ci/run).
#define SKIP_WITHOUT_KERNEL(result)                                    \
  if (!(result) && (result).error().code == ErrorCode::kUnavailable && \
      std::getenv("SECEQUIV_REQUIRE_KERNEL") == nullptr)               \
  GTEST_SKIP() << (result).error().text()
