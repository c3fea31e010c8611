#include "cli/engine_options.h"

namespace secequiv::cli {

void EngineOptions::add(CLI::App& app) {
  add_engine(app);
  add_assume(app);
}

void EngineOptions::add_engine(CLI::App& app) {
  app.add_option("--engine", name,
                 "dd (decision diagrams, z3 when their limits are reached); z3; both, which must "
                 "agree")
      ->check(one_of({"dd", "z3", "both"}))
      ->capture_default_str();
  add_memory(app);
}

void EngineOptions::add_memory(CLI::App& app) {
  app.add_option("--max-memory", max_memory,
                 "MiB that an engine may use; running out gives 'unknown'")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

void EngineOptions::add_assume(CLI::App& app) {
  app.add_option(
      "--assume", assumption,
      "Only inputs for which this is true count: 'arch == x86_64 && nr in {read, write} "
      "&& arg0 < 0x100'.\n"
      "Fields: arch nr ip arg0..arg5, the last seven also .lo .hi, and $NAME in prove; == != < "
      "<= > >= "
      "FIELD & MASK == VALUE, in {A, B..C}, not in; && || ! ( )");
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
