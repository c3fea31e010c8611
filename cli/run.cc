// `run`: emulate one system call, with the trace if wanted.
#include "analyze/run.h"

#include "cli/call_options.h"
#include "cli/oracle_option.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct RunOptions {
  Options options;
  std::vector<std::string> inputs;
  CallOptions call;
  bool trace = false;
  OracleOption oracle;
};

int emulate(RunOptions& given) {
  const auto data = given.call.read(given.options);
  if (!data) return report(data.error(), given.options);
  RunJob job{*data, {}, given.trace};
  for (const std::string& path : given.inputs) {
    auto source = load_accepted(path, given.options);
    if (!source) return report(source.error(), given.options);
    job.filters.push_back(std::move(*source));
  }
  auto oracle = given.oracle.open();
  if (!oracle) return report(oracle.error(), given.options);
  job.oracle = std::move(*oracle);
  const auto found = run(job);
  if (!found) return report(found.error(), given.options);
  return print(given.options.json ? render(to_json(*found)) : run_text(*found),
               exit_code(found->verdict()));
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "run", "Emulate one system call through a filter, or through a stack of filters");
  auto given = std::make_shared<RunOptions>();
  sub->add_option("input", given->inputs,
                  "Programs or policies, newest first; - for standard input")
      ->required();
  given->call.add(*sub, given->options);
  sub->add_flag("--trace", given->trace, "Show every instruction executed");
  given->oracle.add(*sub);
  given->options.add_input(*sub);
  given->options.add_json(*sub);
  sub->callback([given, &context] { context.status = emulate(*given); });
}

}  // namespace secequiv::cli
