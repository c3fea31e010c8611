// `actions`: lists the action of each system call, and its conditions on arguments.
#include "analyze/actions.h"

#include <fmt/format.h>

#include "analyze/dump.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/reading.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct ActionsOptions {
  Options options;
  std::string filter;
  int pid = 0;
  bool allowed = false;
  EngineOptions engine;
};

// Returns the filters of a process as a stack.
Result<std::vector<Source>> filters_of(int pid) {
  auto found = dump_process(pid);
  if (!found) return found.error();
  for (const std::string& note : found->notes) warn(note);
  if (found->filters.empty())
    return make_error(ErrorCode::kUsage, "--pid",
                      fmt::format("process {} has no seccomp filter", pid));
  std::vector<Source> out;
  for (DumpedFilter& filter : found->filters)
    out.push_back({std::move(filter.title), std::move(filter.program), std::nullopt});
  return out;
}

Result<int> list_actions(const ActionsOptions& given) {
  if (given.filter.empty() == (given.pid == 0))
    return make_error(ErrorCode::kUsage, "actions", "expected a filter, or --pid N");
  auto stack = given.pid != 0 ? filters_of(given.pid)
                              : load_accepted_stack(given.filter, reading(given.options));
  if (!stack) return stack.error();
  const std::string name = given.pid != 0 ? fmt::format("process {}", given.pid) : given.filter;
  const auto found = actions({{name, std::move(*stack)},
                              given.options.sameness(),
                              given.options.oci().arch,
                              given.engine.limits()});
  if (!found) return found.error();
  if (given.options.json) return print_json(to_json(*found));
  return print(actions_text(*found, given.allowed));
}

}  // namespace

void add_actions(CLI::App& app, Context& context) {
  const auto [sub, given] =
      add_command(app, context, "actions",
                  "List the action of each system call, and its conditions", list_actions);
  add_filter(*sub, "filter", given->filter);
  sub->get_option("filter")->required(false);
  sub->add_option("--pid", given->pid,
                  "Read the filters of this process or thread, the newest first")
      ->check(whole_number(1, 1 << 30))
      ->excludes("filter");
  sub->add_flag("--allowed", given->allowed, "List only the calls that are allowed or logged");
  given->engine.add_memory(*sub);
  given->options.add(*sub, {kInput, kSame, kImport, kJson});
}

}  // namespace secequiv::cli
