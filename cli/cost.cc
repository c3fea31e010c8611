// `cost`: counts the instructions that a filter executes. The result is the same on every machine.
#include "analyze/cost.h"

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/optimized.h"
#include "cli/pair_options.h"
#include "cli/profile_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

constexpr std::size_t kRows = 25;

struct CostOptions {
  Options options;
  PairOptions pair;
  ProfileOptions profile;
  CompilationOptions compilation;
  std::string chart;
  bool all = false;
  bool derived = false;
  bool bound = false;
};

Result<int> count_instructions(const CostOptions& given) {
  CostJob job;
  RETURN_IF_ERROR(keep_json_alone(given.options, "--chart", given.chart));
  ASSIGN_OR_RETURN(job.stacks, given.compilation.load(given.pair.inputs, given.options));
  job.arch = given.options.oci().arch;
  ASSIGN_OR_RETURN(job.profile, given.profile.read(job.arch, given.options));
  job.profiled = !given.profile.path.empty();
  job.timeout = given.options.timeout;
  job.limits = diagram_limits(given.options);
  job.exact = !given.derived;
  job.bound = given.bound;
  job.derive = [&]() -> Result<std::vector<SeccompData>> {
    ASSIGN_OR_RETURN(auto cases, given.pair.cases(all_filters(job.stacks), given.options));
    return std::move(cases.inputs);
  };
  ASSIGN_OR_RETURN(const auto found, cost(job));
  int status = given.options.json ? print_json(to_json(found))
                                  : print(cost_text(found, given.all ? SIZE_MAX : kRows, "--all"));
  if (status == 0 && !found.bounded()) status = exit_code(Verdict::kUnknown);
  return given.chart.empty() ? status : write_drawing(status, given.chart, cost_svg(found));
}

}  // namespace

void add_cost(Commands& all) {
  const auto [sub, given] =
      add_command(all, "cost", "Count the instructions that a filter executes for each system call",
                  count_instructions);
  sub->add_option("input", given->pair.inputs,
                  "One or two programs or policies; commas separate the filters of a stack")
      ->required()
      ->expected(1, 2);
  given->compilation.add(*sub);
  given->profile.add(*sub);
  given->pair.add_derivation(*sub);
  sub->add_flag("--derived", given->derived,
                "Measure derived inputs only, instead of computing exact costs");
  sub->add_flag("--bound", given->bound,
                "Also prove a lower bound for every equivalent filter, and print the gap");
  sub->add_flag("--all", given->all,
                "Show every system call, not only the first ones of the table");
  sub->add_option("--chart", given->chart, "Also write a chart (SVG) to this file")
      ->writes(Writes::kFile);
  given->options.add(*sub, {kSandbox, kLimits, kInput, kImport, kJson});
}

}  // namespace secequiv::cli
