// Runs an optimizer or a compiler on a filter, to make the program that a command examines. Owns
// the choice between the code that a user names and the built-in passes. It must not know what
// commands do with the program.
#pragma once

#include <string>
#include <vector>

#include "analyze/source.h"
#include "cli/options.h"
#include "cli/target_options.h"
#include "harness/optimize/optimizer.h"

namespace secequiv::cli {

// Returns the output of `target` or, if it names no target, of the built-in `passes`. Errors:
// kRejected if the kernel refuses `before`; kUsage; those of opening `target`; kAdapter if `target`
// gives no program.
Result<Source> optimized(const Source& before, const TargetOptions& target, const Options& options,
                         const std::vector<const Pass*>& passes = standard_passes());

// --optimizer, --compiler and --passes, which choose how policies become the programs of a command.
struct CompilationOptions {
  TargetOptions target;
  std::vector<std::string> passes;

  void add(Command& command);
  // Loads filters and stacks. Policies become optimized programs. Errors: those of load_stack() and
  // optimized(); kRejected for a program that the kernel refuses, except for its length; kUsage if
  // an option is given and no filter is a policy.
  [[nodiscard]] Result<std::vector<Stack>> load(const std::vector<std::string>& inputs,
                                                const Options& options) const;

 private:
  Status apply(std::vector<Stack>& stacks, const Options& options) const;
  // Returns text for reports about what makes the programs. `chosen` are the passes in `passes`.
  [[nodiscard]] std::string described(const std::vector<const Pass*>& chosen) const;
};

}  // namespace secequiv::cli
