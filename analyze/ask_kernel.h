// The running kernel's answers about one filter or two, on given and on random inputs. Owns which
// inputs it gets. They come in blocks, because memory may not hold all random ones at once.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/kernel/compare.h"

namespace secequiv {

struct AskKernelJob {
  std::vector<Source> sources;      // one or two, which the kernel accepts
  std::vector<SeccompData> inputs;  // these first
  std::size_t random = 4096;        // then so many near the constants of each program
  std::uint64_t seed = 1;
  kernel::AskOptions options = {};  // without progress
  std::function<void(std::size_t done, std::size_t total)> progress;
};

// Errors: those of kernel::available() and kernel::ask().
Result<kernel::KernelReport> ask_kernel(const AskKernelJob& job);

}  // namespace secequiv
