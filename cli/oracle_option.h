// The option --oracle, a second evaluator for the inputs that a command runs. Owns how a user names
// it. It must not know what a command does with the results.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "harness/compare/oracle_report.h"
#include "harness/kernel/kernel.h"

namespace secequiv::cli {

// Returns the kernel that `name` names (boot()), or the running one if it is empty. Errors: those
// of boot().
Result<std::shared_ptr<kernel::Kernel>> open_kernel(const std::string& name);

struct OracleOption {
  std::string name;

  void add(Command& command);

  // Returns the oracle, or an empty function without the option. Errors: kUnavailable.
  [[nodiscard]] Result<Oracle> open() const;
};

}  // namespace secequiv::cli
