#include "cli/engine_options.h"

#include "cli/arguments.h"

namespace secequiv::cli {

void EngineOptions::add(CLI::App& app) {
  add_engine(app);
  add_assume(app);
}

void EngineOptions::add_engine(CLI::App& app) {
  app.add_option("--engine", name,
                 "Use dd (diagrams; beyond their limits sat, then z3), sat, z3, or both dd and z3")
      ->check(one_of({"dd", "sat", "z3", "both"}))
      ->capture_default_str();
  add_memory(app);
}

void EngineOptions::add_memory(CLI::App& app) {
  add_number(app, "--max-memory", max_memory, 1, 1 << 20,
             "Limit the memory of each engine to this many MiB");
}

void EngineOptions::add_assume(CLI::App& app) {
  app.add_option("--assume", assumption,
                 "Consider only inputs that satisfy this condition, for example 'nr == read'");
}

Result<Assumption> EngineOptions::parsed_assumption(const Options& options) const {
  if (assumption.empty()) return Assumption();
  return parse_assumption(assumption, options.oci().arch);
}

}  // namespace secequiv::cli
