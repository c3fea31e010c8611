// `reach`: describes the inputs that reach each instruction.
#include "analyze/reach.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/reading.h"
#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct ReachOptions {
  Options options;
  std::string program;
  std::string at;
  std::size_t max_regions = 20;
};

Result<int> list_inputs(const ReachOptions& given) {
  auto source = load_accepted(given.program, reading(given.options));
  if (!source) return source.error();
  const std::optional<std::size_t> at = parse_unsigned(given.at);
  if (!given.at.empty() && (!at || *at >= source->program.size()))
    return make_error(ErrorCode::kUsage, "--at",
                      fmt::format("expected an instruction from 0 to {}, found {}",
                                  source->program.size() - 1, given.at));
  const auto found = reach({std::move(*source), at, given.max_regions, given.options.oci().arch,
                            diagram_limits(given.options)});
  if (!found) return found.error();
  if (given.options.json) return print_json(to_json(*found));
  return print(reach_text(*found, "--max-regions"));
}

}  // namespace

void add_reach(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "reach",
      "Count the inputs that reach each instruction, or prove that none does", list_inputs);
  add_program(*sub, given->program);
  sub->add_option("--at", given->at,
                  "Describe only this instruction, with all inputs that reach it");
  add_max_regions(*sub, given->max_regions);
  given->options.add(*sub, {kLimits, kInput, kImport, kJson});
}

}  // namespace secequiv::cli
