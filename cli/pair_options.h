// The pair of programs that `check` and `fuzz` take: two inputs or commands, or one input and an
// optimizer's output. Owns how a user names the two sides, and how inputs are derived for them. It
// must not know what the commands do with the pair.
#pragma once

#include "analyze/source.h"
#include "cli/options.h"
#include "cli/target_options.h"
#include "harness/inputs/cases.h"
#include "harness/report/pair_notes.h"

namespace secequiv::cli {

struct PairOptions {
  std::vector<std::string> inputs;
  std::string before_cmd;
  std::string after_cmd;
  std::string policy;
  double cmd_timeout = 60;
  std::size_t max_inputs = CaseLimits{}.total;

  // Declares everything except `inputs`, whose help differs.
  void add(Command& command);
  // Declares only --policy and --max-inputs.
  void add_derivation(Command& command);

  // Loads the two sides from commands and files. `target` or the built-in optimizer makes a missing
  // second side. `notes` receives what a comparison does not cover. Errors: kUsage, and those of
  // loading and of `target`.
  [[nodiscard]] Result<std::pair<Source, Source>> sides(const Options& options,
                                                        const TargetOptions& target,
                                                        PairNotes& notes) const;

  // Returns the inputs derived from --policy and from the policies and programs of `sources`.
  [[nodiscard]] Result<Cases> cases(const std::vector<const Source*>& sources,
                                    const Options& options) const;
};

}  // namespace secequiv::cli
