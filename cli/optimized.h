// The program that an optimizer or a compiler makes from a filter. Owns the choice between the code
// that a user names and the built-in passes. It must not know what commands do with the program.
#pragma once

#include <string>
#include <vector>

#include "analyze/source.h"
#include "cli/options.h"
#include "cli/target_options.h"
#include "harness/optimize/optimizer.h"

namespace secequiv::cli {

// Returns the output of `target`, or else that of the built-in `passes`. Errors: kRejected if the
// kernel refuses `before`; kUsage; those of opening `target`; kAdapter if it gives no program.
Result<Source> optimized(const Source& before, const TargetOptions& target, const Options& options,
                         const std::vector<const Pass*>& passes = standard_passes());

// --optimizer, --compiler and --passes: how policies become the programs that a command is about.
struct CompilationOptions {
  TargetOptions target;
  std::vector<std::string> passes;

  void add(CLI::App& app);
  // Replaces the unoptimized program of each policy, and accepts what the kernel accepts. Errors:
  // those of optimized(); kUsage if an option is given and no filter is a policy.
  Status apply(std::vector<Stack>& stacks, const Options& options) const;

 private:
  [[nodiscard]] std::string described() const;
};

}  // namespace secequiv::cli
