// `fuzz` for a pair of programs. Owns the options that only this form of `fuzz` has. It must not
// know how fuzzing works.
#pragma once

#include "cli/check_options.h"
#include "cli/fuzz_target.h"
#include "cli/pair_options.h"

namespace secequiv::cli {

struct FuzzCampaignOptions {
  PairOptions pair;
  PairCheckOptions check;
  std::string corpus;
  bool minimize = false;

  void add(Command& command);

  // Returns whether the command line names a pair.
  [[nodiscard]] bool given() const {
    return !pair.inputs.empty() || !pair.before_cmd.empty() || !pair.after_cmd.empty();
  }
};

// Prints the report. Returns the exit status, or an error to report.
Result<int> run_fuzz_campaign(const FuzzCampaignOptions& given, const Options& options,
                              const FuzzEffort& effort);

}  // namespace secequiv::cli
