// --optimizer, --compiler and --evaluator: the code under test. Owns how a user names it, and its
// limits. It must not know what the command does with it.
#pragma once

#include <memory>

#include "cli/options.h"
#include "harness/adapter/interfaces.h"

namespace secequiv::cli {

struct TargetOptions {
  std::string optimizer;
  std::string compiler;
  std::string evaluator;
  std::string form = "raw";
  double seconds = 10;
  std::size_t memory = 4096;  // MiB
  unsigned at_once = 1;       // runs of a command at the same time

  // Declares --optimizer and --compiler, and with `evaluators` also --evaluator.
  void add(Command& command, bool evaluators);

  // Returns the options that differ from the default, with a blank before each.
  [[nodiscard]] std::string replay_options() const;
  [[nodiscard]] std::string_view kind() const {
    return !optimizer.empty() ? "optimizer" : !compiler.empty() ? "compiler" : "evaluator";
  }
  [[nodiscard]] const std::string& name() const {
    return !optimizer.empty() ? optimizer : !compiler.empty() ? compiler : evaluator;
  }
};

// At most one of `optimizer`, `compiler` and `evaluator` is set.
struct OpenTarget {
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<Evaluator> evaluator;
  bool external = false;  // true: the code is not part of this program
  // AdapterLimits::shorter of the target.
  std::shared_ptr<double> shorter = std::make_shared<double>(0);

  [[nodiscard]] bool any() const { return optimizer || compiler || evaluator; }
};

// Opens a built-in target by its name, or a target as harness/adapter/open.h describes. Errors:
// kUsage for more than one target or a wrong name; those of opening it.
Result<OpenTarget> open_target(const TargetOptions& options, const Options& shared);

// Returns every built-in name with its kind, one on each line.
std::string target_list();

}  // namespace secequiv::cli
