// Reads a stack from files or from a running process. Owns the argument `filter` and --pid. It must
// not know what a command does with the stack.
#pragma once

#include "analyze/source.h"
#include "cli/options.h"

namespace secequiv::cli {

struct FilterOrProcess {
  std::string filter;
  int pid = 0;

  void add(Command& command);
  // Loads the stack. The kernel accepts its filters.
  [[nodiscard]] Result<Stack> load(const Options& options) const;
};

}  // namespace secequiv::cli
