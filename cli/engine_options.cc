#include "cli/engine_options.h"

namespace secequiv::cli {

void EngineOptions::add(CLI::App& app) {
  add_engine(app);
  add_assume(app);
}

void EngineOptions::add_engine(CLI::App& app) {
  app.add_option("--engine", name,
                 "Use dd (decision diagrams, then z3 if their limits are reached), z3, or both")
      ->check(one_of({"dd", "z3", "both"}))
      ->capture_default_str();
  add_memory(app);
}

void EngineOptions::add_memory(CLI::App& app) {
  app.add_option("--max-memory", max_memory, "Limit the memory of an engine to this many MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

void EngineOptions::add_assume(CLI::App& app) {
  app.add_option("--assume", assumption,
                 "Consider only inputs for which this condition holds, as in 'nr == read'");
}

Status EngineOptions::assume(const Options& options, Question& question) const {
  if (assumption.empty()) return Ok{};
  const Arch host = options.oci().arch;
  auto parsed = parse_assumption(assumption, host, question.symbols.all());
  if (!parsed) return parsed.error();
  question.assumption = std::move(*parsed);
  question.endian = arch_info(host).endian;
  return Ok{};
}

}  // namespace secequiv::cli
