// Compares a kernel with our interpreter on one or two filters, with given and random
// inputs. Owns the choice of inputs. They come in blocks, because memory may not hold all random
// inputs at once. It must not know files.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/kernel/compare.h"

namespace secequiv {

struct AskKernelJob {
  std::vector<Source> sources;      // one or two filters that the kernel accepts
  std::vector<SeccompData> inputs;  // inputs to run first
  std::size_t random = 4096;        // number of random inputs near the constants of each program
  std::uint64_t seed = 1;
  kernel::AskOptions options = {};  // a `progress` of the job replaces options.progress
  std::function<void(std::size_t done, std::size_t total)> progress;
};

// Checks that `kernel` can run these filters, before inputs for them are derived. Errors: those of
// kernel::available(), and kRejected.
Status can_ask(const std::vector<Source>& sources, kernel::Kernel& kernel);

// Returns the report. Precondition: can_ask() accepts the sources. Errors: those of kernel::ask().
Result<kernel::KernelReport> ask_kernel(const AskKernelJob& job);

}  // namespace secequiv
