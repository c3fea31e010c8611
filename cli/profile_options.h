// How often each system call is made, for `cost`, `bench` and `optimize`. Owns --profile.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analyze/profile.h"
#include "harness/base/result.h"

namespace secequiv::cli {

struct ProfileOptions {
  std::string path;

  void add(CLI::App& app);
  // The given profile, or none. Errors: those of reading.
  [[nodiscard]] Result<std::vector<SyscallCount>> read() const;
  // The given profile, or each call of the architecture once. Reports on standard error which calls
  // `arch` does not have. Errors: those of reading and of profile_for.
  [[nodiscard]] Result<std::vector<SyscallCount>> read(Arch arch) const;
};

}  // namespace secequiv::cli
