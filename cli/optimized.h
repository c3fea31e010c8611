// Makes a program from a filter with an optimizer or a compiler. Owns the choice between the code
// that a user names and the built-in passes. It must not know what commands do with the program.
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

  void add(CLI::App& app);
  // Replaces the unoptimized program of each policy, and checks that the kernel accepts every
  // program (expect_accepted). Errors: those of optimized(); kUsage if an option is given and no
  // filter is a policy.
  Status apply(std::vector<Stack>& stacks, const Options& options) const;

 private:
  [[nodiscard]] std::string described() const;
};

}  // namespace secequiv::cli
