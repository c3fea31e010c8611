// `cost`: how many instructions a filter executes, which is the same on every machine.
#include "analyze/cost.h"

#include "cli/engine_options.h"
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

int count_instructions(const CostOptions& given) {
  CostJob job;
  for (const std::string& path : given.pair.inputs) {
    auto source = load_accepted(path, given.options);
    if (!source) return report(source.error(), given.options);
    job.filters.push_back(std::move(*source));
  }
  job.arch = given.options.oci().arch;
  auto profile = given.profile.read(job.arch);
  if (!profile) return report(profile.error(), given.options);
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
  if (!found) return report(found.error(), given.options);
  if (given.options.json) return print(render(to_json(*found)));
  return print(cost_text(*found, given.all ? SIZE_MAX : kRows, "--all"));
}

}  // namespace

void add_cost(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "cost", "Count the instructions that a filter executes for each system call");
  auto given = std::make_shared<CostOptions>();
  sub->add_option("input", given->pair.inputs, "One or two programs or policies")
      ->required()
      ->expected(1, 2);
  given->profile.add(*sub);
  sub->add_option("--policy", given->pair.policy, "Also derive inputs from this policy");
  sub->add_option("--max-inputs", given->pair.max_inputs,
                  "Derive at most this many inputs from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_flag("--derived", given->derived, "Use only derived inputs, no exact costs");
  sub->add_flag("--all", given->all, "Show every system call, not only the most expensive ones");
  given->engine.add_memory(*sub);
  given->options.add_timeout(*sub);
  given->options.add_input(*sub);
  given->options.add_import(*sub);
  given->options.add_json(*sub);
  sub->callback([given, &context] { context.status = count_instructions(*given); });
}

}  // namespace secequiv::cli
