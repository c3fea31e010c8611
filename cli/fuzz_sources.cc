#include "cli/fuzz_sources.h"

#include <fmt/format.h>

#include "analyze/load_all.h"
#include "cli/errors.h"
#include "cli/output.h"
#include "cli/reading.h"

namespace secequiv::cli {

void FuzzSources::add(CLI::App& app) {
  app.add_option("--programs", programs,
                 "Start from these programs (files or folders), then from changed copies")
      ->allow_extra_args();
  app.add_option("--policies", policies,
                 "Start from these policies (files or folders), then from changed copies")
      ->allow_extra_args();
  app.add_flag("--generate", generate, "Start from generated programs or policies (the default)");
}

Result<std::unique_ptr<hunt::ProgramSource>> FuzzSources::open(bool compiler,
                                                               const Options& options) const {
  const auto left_out = [&options](const Error& error) {
    options.note(fmt::format("note: skipped {}", named(error).text()));
  };
  if (int{!programs.empty()} + int{!policies.empty()} + int{generate} > 1)
    return make_error(ErrorCode::kUsage, {},
                      "expected only one of --programs, --policies and --generate");
  if (!programs.empty()) {
    if (compiler)
      return make_error(ErrorCode::kUsage, "--programs",
                        "expected --policies or --generate, because a compiler takes policies");
    return load_programs(programs, reading(options), left_out);
  }
  if (!policies.empty()) return load_policies(policies, reading(options), left_out);
  return compiler ? hunt::generated_policies() : hunt::generated_programs();
}

}  // namespace secequiv::cli
