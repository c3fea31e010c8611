// Options of the commands that use a proof engine. Owns --engine and --assume, and how the shared
// limits become limits of engines. It must not know how engines work.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "verify/decide/decide.h"

namespace secequiv::cli {

// Returns the limits for commands that use only decision diagrams.
inline dd::Limits diagram_limits(const Options& options) {
  return limits_alone(options.max_memory);
}
inline Budget budget(const Options& options) {
  return budget_for(options.timeout, options.max_memory);
}

struct EngineOptions {
  std::vector<std::string> names = {"dd"};
  std::string assumption;

  void add(Command& command);  // both options
  void add_engine(Command& command);
  void add_assume(Command& command);

  // Error: kUsage if these engines do not run together.
  [[nodiscard]] Result<Engine> engine(const Options& options) const;
  // Returns the assumption. Errors: those of parse_assumption.
  [[nodiscard]] Result<Assumption> parsed_assumption(const Options& options) const;
};

}  // namespace secequiv::cli
