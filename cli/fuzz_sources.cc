#include "cli/fuzz_sources.h"

#include "analyze/load_all.h"
#include "cli/reading.h"
#include "cli/values.h"

namespace secequiv::cli {

void FuzzSources::add(Command& command) {
  command.add_option("--programs", programs,
                     "Start from these programs (files or folders), then from changed copies");
  command.add_option("--policies", policies,
                     "Start from these policies (files or folders), then from changed copies");
  command.add_flag("--generate", generate,
                   "Start from generated programs or policies (the default)");
  command.add_flag("--no-dead-code", no_dead_code,
                   "Generate no programs with an instruction that no path reaches");
  command.add_option("--arches", arches, "Generate only policies for these architectures")
      ->check(architecture())
      ->delimiter(',')
      ->one_at_a_time();
  command.add_flag("--no-low-halves", no_low_halves,
                   "Generate no policies that test only the low 32 bits of an argument");
}

Result<std::unique_ptr<hunt::ProgramSource>> FuzzSources::open(bool compiler,
                                                               const Options& options) const {
  if (int{!programs.empty()} + int{!policies.empty()} + int{generate} > 1)
    return make_error(ErrorCode::kUsage, {},
                      "expected only one of --programs, --policies and --generate");
  const bool generated = programs.empty() && policies.empty();
  if (no_dead_code && (compiler || !generated))
    return make_error(ErrorCode::kUsage, "--no-dead-code", "applies only to generated programs");
  if ((no_low_halves || !arches.empty()) && (!compiler || !generated))
    return make_error(ErrorCode::kUsage, no_low_halves ? "--no-low-halves" : "--arches",
                      "applies only to generated policies");
  if (!programs.empty()) {
    if (compiler)
      return make_error(
          ErrorCode::kUsage, "--programs",
          "expected --policies or --generate, because compilers accept only policies");
    return load_programs(programs, reading(options));
  }
  if (!policies.empty()) return load_policies(policies, reading(options));
  hunt::Generation generation{.dead_code = !no_dead_code,
                              .policies = {.low_halves = !no_low_halves}};
  for (const std::string& arch : arches)
    generation.policies.arches.push_back(*arch_from_name(arch));
  return compiler ? hunt::generated_policies(generation) : hunt::generated_programs(generation);
}

}  // namespace secequiv::cli
