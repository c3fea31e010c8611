// `run`: emulates one system call, and shows its trace on request.
#include "analyze/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analyze/installed.h"
#include "cli/call_options.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/oracle_option.h"
#include "cli/reading.h"
#include "cli/unknown_names.h"
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
  ASSIGN_OR_RETURN(const auto data, given.call.read(given.options));
  RunJob job{data, {}, given.trace};
  job.arguments_known = given.call.record.empty();
  job.host = given.options.oci().arch;
  job.limits = diagram_limits(given.options);
  for (const std::string& path : given.inputs) {
    auto stack = load_accepted_stack(path, reading(given.options));
    if (!stack) {
      Error error = stack.error();
      if (error.code == ErrorCode::kIo && is_call(path))
        error.detail += fmt::format("; did you mean --nr {}?", path);
      return error;
    }
    std::ranges::move(*stack, std::back_inserter(job.filters));
  }
  if (!given.call.given() && !given.call.fields.args.empty())
    given.options.note(
        "note: the arguments belong to call number 0; choose another call with --nr");
  ASSIGN_OR_RETURN(job.oracle, given.oracle.open());
  ASSIGN_OR_RETURN(const auto found, run(job));
  if (!job.arguments_known && given.trace && found.possible.empty())
    given.options.note("note: audit records do not have the arguments, which are 0 in the trace");
  int status = exit_code(found.verdict());
  if (status == 0 && !choices_at(job.filters, job.data, job.arguments_known, job.limits).empty())
    status = exit_code(Verdict::kUnknown);
  if (given.options.json) return print_json(to_json(found), status);
  return print(run_text(found), status);
}

}  // namespace

void add_run(Commands& all) {
  const auto [sub, given] = add_command(
      all, "run", "Emulate one system call through a filter, or through a stack of filters",
      emulate);
  sub->add_option(
         "input", given->inputs,
         "Program or policy, or the filters of a stack, newest first; - for standard input")
      ->required();
  given->call.add(*sub, given->options);
  sub->add_flag("--trace", given->trace, "Show the instructions executed");
  given->oracle.add(*sub);
  given->options.add(*sub, {kLimits, kInput, kJson});
}

}  // namespace secequiv::cli
