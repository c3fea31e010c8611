// `fuzz` of a pair of programs rather than of an optimizer. Owns the options that only this takes.
#pragma once

#include "cli/engine_options.h"
#include "cli/oracle_option.h"
#include "cli/pair_options.h"

namespace secequiv::cli {

struct FuzzPairJob {
  PairOptions pair;
  EngineOptions engine;
  OracleOption oracle;
  std::string corpus;
  unsigned jobs = 1;
  bool minimize = false;
  bool any_length = false;
  bool allow_cache_loss = false;

  // The options that are not those of fuzzing an optimizer, too.
  void add(CLI::App& app);

  // Was a pair given?
  [[nodiscard]] bool given() const {
    return !pair.inputs.empty() || !pair.before_cmd.empty() || !pair.after_cmd.empty();
  }
};

// What both ways of fuzzing take.
struct FuzzEffort {
  double seconds = 60;
  std::uint64_t trials = 0;  // 0: `seconds` count
  std::uint64_t seed = 1;
  bool prove = true;
};

// The exit status, everything said.
int run_fuzz_pair(const FuzzPairJob& job, const Options& options, const FuzzEffort& effort);

}  // namespace secequiv::cli
