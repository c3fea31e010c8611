// How often each system call is made, for `cost` and `bench`. Owns --profile.
#pragma once

#include <string>
#include <vector>

#include "cli/common.h"
#include "harness/seccomp/profile.h"

namespace secequiv::cli {

struct ProfileOptions {
  std::string path;

  void add(CLI::App& app);
  // The counts in the file, or one for each call of the architecture. Warns about calls that `arch`
  // lacks. Errors: those of reading; kPolicy if it lacks all of them.
  [[nodiscard]] Result<std::vector<SyscallCount>> read(Arch arch) const;
};

}  // namespace secequiv::cli
