// How often each system call is made, as `cost` and `bench` take it. Owns --profile.
#pragma once

#include <string>
#include <vector>

#include "cli/common.h"
#include "harness/seccomp/profile.h"

namespace secequiv::cli {

struct ProfileOptions {
  std::string path;

  void add(CLI::App& app);
  // As given, or each call of the architecture once. Says on standard error which calls `arch` does
  // not have. Errors: those of reading; kPolicy if it has none of them.
  [[nodiscard]] Result<std::vector<SyscallCount>> read(Arch arch) const;
};

}  // namespace secequiv::cli
