// `reach`: which inputs reach which instruction.
#include "analyze/reach.h"

#include <fmt/format.h>

#include "cli/engine_options.h"
#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct ReachOptions {
  Options options;
  std::string program;
  std::string at;
  std::size_t max_regions = 20;
  EngineOptions engine;
};

int list_inputs(const ReachOptions& given) {
  auto source = load_accepted(given.program, given.options);
  if (!source) return report(source.error(), given.options);
  const std::optional<std::size_t> at = parse_unsigned(given.at);
  if (!given.at.empty() && (!at || *at >= source->program.size()))
    return report(make_error(ErrorCode::kUsage, "--at",
                             fmt::format("expected an instruction from 0 to {}, found {}",
                                         source->program.size() - 1, given.at)),
                  given.options);
  const auto found = reach(
      {std::move(*source), at, given.max_regions, given.options.oci().arch, given.engine.limits()});
  if (!found) return report(found.error(), given.options);
  return print(given.options.json ? render(to_json(*found)) : reach_text(*found, "--max-regions"));
}

}  // namespace

void add_reach(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "reach", "Count the inputs that reach each instruction, or prove that none does");
  auto given = std::make_shared<ReachOptions>();
  sub->add_option("program", given->program,
                  "Program in any form, or a policy (compiled, not optimized)")
      ->required();
  sub->add_option("--at", given->at,
                  "Describe only this instruction, with all the inputs that reach it");
  sub->add_option("--max-regions", given->max_regions,
                  "List at most this many regions; counts stay complete")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  given->engine.add_memory(*sub);
  given->options.add_input(*sub);
  given->options.add_import(*sub);
  given->options.add_json(*sub);
  sub->callback([given, &context] { context.status = list_inputs(*given); });
}

}  // namespace secequiv::cli
