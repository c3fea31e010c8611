// --oracle: who else is asked about the inputs that a command runs. Owns how a user names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common.h"
#include "harness/compare/oracle_report.h"

namespace secequiv::cli {

struct OracleOption {
  std::string name;

  // `asked`: what the command asks it about.
  void add(CLI::App& app, std::string_view asked);

  // An oracle that can be asked, or none where none is wanted. Errors: kUnavailable, and why.
  [[nodiscard]] Result<Oracle> open() const;
};

// What `oracle` says of all programs of one or two stacks; nothing without an oracle.
Result<std::optional<OracleReport>> ask(const Oracle& oracle, const std::vector<Source>& stack,
                                        const std::vector<Source>& other,
                                        const std::vector<InputWords>& inputs);

// "fail: our interpreter is in doubt ...", a line.
std::string doubt_text(const OracleReport& report);

}  // namespace secequiv::cli
