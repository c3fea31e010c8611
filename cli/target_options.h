// --optimizer, --compiler and --evaluator: something under test, built in or the user's. Owns how a
// user names it and the limits it gets.
#pragma once

#include <memory>

#include "cli/common.h"
#include "harness/adapter/interfaces.h"

namespace secequiv::cli {

struct TargetOptions {
  std::string optimizer;
  std::string compiler;
  std::string evaluator;
  std::string form = "raw";
  double seconds = 10;
  std::size_t memory = 4096;  // MiB

  // The options of a subcommand that takes --optimizer and --compiler, or with `evaluators` all
  // three.
  void add(CLI::App& app, bool evaluators);

  // Those of these options that are not the default, with a blank before each.
  [[nodiscard]] std::string replay_options() const;
  [[nodiscard]] const std::string& name() const {
    return !optimizer.empty() ? optimizer : !compiler.empty() ? compiler : evaluator;
  }
};

// One of the three, or none if none was named.
struct OpenTarget {
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<Evaluator> evaluator;

  [[nodiscard]] bool any() const { return optimizer || compiler || evaluator; }
};

// A built-in name, or what harness/adapter/open.h says. Errors: kUsage, more than one or a name
// that is wrong; those of opening it.
Result<OpenTarget> open_target(const TargetOptions& options, const Options& shared);

// Every built-in name with its kind, a line each.
std::string target_list();

}  // namespace secequiv::cli
