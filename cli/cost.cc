// `cost`: how many instructions a filter executes, which is the same on every machine.
#include "analyze/cost.h"

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/inputs.h"
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
  EngineOptions engine;
  bool all = false;
  bool derived = false;
};

Result<int> count_instructions(const CostOptions& given) {
  CostJob job;
  for (const std::string& path : given.pair.inputs) {
    auto source = load_accepted(path, given.options);
    if (!source) return source.error();
    job.filters.push_back(std::move(*source));
  }
  job.arch = given.options.oci().arch;
  auto profile = given.profile.read(job.arch);
  if (!profile) return profile.error();
  job.profile = std::move(*profile);
  job.timeout = given.options.timeout;
  job.limits = given.engine.limits();
  job.exact = !given.derived;
  job.derive = [&]() -> Result<std::vector<SeccompData>> {
    auto cases = given.pair.cases(job.filters.front(), job.filters.back(), given.options);
    if (!cases) return cases.error();
    return std::move(cases->inputs);
  };
  const auto found = cost(job);
  if (!found) return found.error();
  if (given.options.json) return print_json(to_json(*found));
  return print(cost_text(*found, given.all ? SIZE_MAX : kRows, "--all"));
}

}  // namespace

void add_cost(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "cost", "Count the instructions that a filter executes for each system call",
      count_instructions);
  sub->add_option("input", given->pair.inputs, "One or two programs or policies")
      ->required()
      ->expected(1, 2);
  given->profile.add(*sub);
  given->pair.add_derivation(*sub);
  sub->add_flag("--derived", given->derived, "Use only derived inputs, no exact costs");
  sub->add_flag("--all", given->all, "Show every system call, not only the most expensive ones");
  given->engine.add_memory(*sub);
  given->options.add(*sub, {kTimeout, kInput, kImport, kJson});
}

}  // namespace secequiv::cli
