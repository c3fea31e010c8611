// `run`: emulate one system call, with the trace if wanted.
#include "analyze/run.h"

#include "cli/call_options.h"
#include "cli/command.h"
#include "cli/inputs.h"
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

Result<int> emulate(RunOptions& given) {
  const auto data = given.call.read(given.options);
  if (!data) return data.error();
  if (!given.call.record.empty())
    warn("note: audit records lack the arguments, so they are 0 here; 'why' covers all values");
  RunJob job{*data, {}, given.trace};
  for (const std::string& path : given.inputs) {
    auto source = load_accepted(path, given.options);
    if (!source) return source.error();
    job.filters.push_back(std::move(*source));
  }
  auto oracle = given.oracle.open();
  if (!oracle) return oracle.error();
  job.oracle = std::move(*oracle);
  const auto found = run(job);
  if (!found) return found.error();
  return print(given.options.json ? render(to_json(*found)) : run_text(*found),
               exit_code(found->verdict()));
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "run",
      "Emulate one system call through a filter, or through a stack of filters", emulate);
  sub->add_option("input", given->inputs,
                  "Programs or policies, newest first; - for standard input")
      ->required();
  given->call.add(*sub, given->options);
  sub->add_flag("--trace", given->trace, "Show the instructions executed");
  given->oracle.add(*sub);
  given->options.add(*sub, {kInput, kJson});
}

}  // namespace secequiv::cli
