// A pair of programs as `check` and `fuzz` take it: two inputs or commands, or one and what an
// optimizer makes of it. Owns how a user names the two sides, and the inputs derived from them.
#pragma once

#include "cli/common.h"
#include "cli/target_options.h"
#include "harness/inputs/cases.h"

namespace secequiv::cli {

struct PairOptions {
  std::vector<std::string> inputs;
  std::string before_cmd;
  std::string after_cmd;
  std::string policy;
  double cmd_timeout = 60;
  std::size_t max_inputs = CaseLimits{}.total;

  // All but `inputs`, whose help differs.
  void add(CLI::App& app);

  // The two sides, from the commands or files given; whatever is missing at the end is the work of
  // `target`, or of the built-in optimizer. Errors: kUsage, and those of loading and of `target`.
  [[nodiscard]] Result<std::pair<Source, Source>> sides(const Options& options,
                                                        const TargetOptions& target) const;

  // From --policy, and from both sides' policies and programs.
  [[nodiscard]] Result<Cases> cases(const Source& before, const Source& after,
                                    const Options& options) const;
};

}  // namespace secequiv::cli
