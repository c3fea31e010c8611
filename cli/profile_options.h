// The option for profiles of `cost`, `bench` and `optimize`, which state how often each system call
// is made. Owns --profile. It must not know how profiles are used.
#pragma once

#include <string>
#include <vector>

#include "analyze/profile.h"
#include "cli/options.h"
#include "cli/question.h"
#include "harness/base/result.h"

namespace secequiv::cli {

struct ProfileOptions {
  std::string path;

  void add(Command& command);
  // Reads the given profile. Without --profile, returns an empty profile. Errors: those of reading.
  [[nodiscard]] Result<std::vector<SyscallCount>> read() const;
  // Reads the given profile. Without --profile, it returns each call of the architecture once. It
  // notes calls that `arch` does not have. Errors: those of reading and of profile_for.
  [[nodiscard]] Result<std::vector<SyscallCount>> read(Arch arch, const Options& options) const;
};

}  // namespace secequiv::cli
