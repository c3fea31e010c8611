// Compares given programs with a kernel for the command `kernel`. Owns how programs, inputs and
// entries are chosen from its options. It must not know random programs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyze/ask_kernel.h"
#include "cli/pair_options.h"
#include "harness/kernel/self_check.h"

namespace secequiv::cli {

struct KernelArguments {
  const Command* command = nullptr;
  Options options;
  PairOptions pair;
  std::vector<std::string> files;  // files of 64-byte records
  std::string on;                  // the kernel to boot; empty: the running one
  bool each = false;
  std::shared_ptr<kernel::Kernel> kernel;
  AskKernelJob job;
  std::string entry = "any";
  std::size_t programs = kernel::SelfCheckOptions{}.programs;
};

// Compares one or two programs with the kernel and with each other, or each by itself. Prints the
// report and returns the exit status.
Result<int> ask_given(const KernelArguments& given);

}  // namespace secequiv::cli
