// `fuzz` for an optimizer, compiler or evaluator under test. Owns the options that only this form
// of `fuzz` has. It must not know how fuzzing works.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/fuzz_sources.h"
#include "cli/target_options.h"
#include "fuzz/hunt/hunt.h"

namespace secequiv::cli {

// The options that both forms of `fuzz` have.
struct FuzzEffort {
  double seconds = 60;
  std::uint64_t trials = 0;  // 0: `seconds` is the limit
  std::uint64_t seed = 1;
  bool no_prove = false;
  unsigned jobs = 1;  // processes; only `fuzz` has this option

  void add(Command& command);
};

struct FuzzTargetOptions {
  TargetOptions target;
  FuzzSources sources;
  std::vector<std::string> inputs;
  std::size_t runs = hunt::HuntOptions{}.inputs;
  std::string save;
  std::vector<std::string> allowed;
  std::vector<std::string> known;  // findings of earlier runs
  bool no_scaling = false;
  bool stop_at_first = false;
  bool require_proof = false;

  void add(Command& command);
  // Declares the options that `fuzz` and `bisect` share.
  void add_search(Command& command);
  // Returns the options of the hunt. Errors: kUsage for a wrong value of --allow, and those of
  // reading the files of --known.
  [[nodiscard]] Result<hunt::HuntOptions> hunt_options(const Options& options,
                                                       const FuzzEffort& effort) const;
  // Reads the files of --inputs. Errors: kUsage, and those of reading.
  [[nodiscard]] Result<std::vector<SeccompData>> stored_inputs() const;
};

// Fuzzes the opened target.
Result<HuntReport> hunt_target(const TargetOptions& named, OpenTarget& target,
                               hunt::ProgramSource& source, std::span<const SeccompData> inputs,
                               const hunt::HuntOptions& options);

// Prints the report. Returns the exit status, or an error to report.
Result<int> run_fuzz_target(const FuzzTargetOptions& given, const Options& options,
                            const FuzzEffort& effort);

}  // namespace secequiv::cli
