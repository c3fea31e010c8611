// --oracle: a second evaluator for the inputs that a command runs. Owns how a user names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "harness/compare/oracle_report.h"

namespace secequiv::cli {

struct OracleOption {
  std::string name;

  void add(CLI::App& app);

  // The oracle, or an empty one without the option. Errors: kUnavailable.
  [[nodiscard]] Result<Oracle> open() const;
};

}  // namespace secequiv::cli
