// Options of the commands that use a proof engine. Owns --engine, --assume and --max-memory. It
// must not know how engines work.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "verify/decide/decide.h"

namespace secequiv::cli {

struct EngineOptions {
  std::vector<std::string> names = {"dd"};
  std::string assumption;
  std::size_t max_memory = 1024;  // MiB

  void add(CLI::App& app);         // all three options
  void add_engine(CLI::App& app);  // --engine and --max-memory
  void add_memory(CLI::App& app);  // --max-memory alone
  void add_assume(CLI::App& app);

  // Error: kUsage if these engines do not run together.
  [[nodiscard]] Result<Engine> engine(const Options& options) const;
  // Returns the limits for commands that use only decision diagrams.
  [[nodiscard]] dd::Limits limits() const { return limits_alone(max_memory); }
  [[nodiscard]] Budget budget(const Options& options) const {
    return budget_for(options.timeout, max_memory);
  }
  // Returns the assumption. Errors: those of parse_assumption.
  [[nodiscard]] Result<Assumption> parsed_assumption(const Options& options) const;
};

}  // namespace secequiv::cli
