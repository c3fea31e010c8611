// `actions`: lists the action of each system call, and its conditions on arguments.
#include "analyze/actions.h"

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/filter_or_process.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct ActionsOptions {
  Options options;
  FilterOrProcess input;
  bool allowed = false;
};

Result<int> list_actions(const ActionsOptions& given) {
  if (auto s = given.options.no_effect(); !s) return s.error();
  auto stack = given.input.load(given.options);
  if (!stack) return stack.error();
  const auto found = actions({std::move(*stack), given.options.sameness(), given.options.oci().arch,
                              diagram_limits(given.options)});
  if (!found) return found.error();
  if (given.options.json) return print_json(to_json(*found));
  return print(actions_text(*found, given.allowed));
}

}  // namespace

void add_actions(CLI::App& app, Context& context) {
  const auto [sub, given] =
      add_command(app, context, "actions",
                  "List the action of each system call, and its conditions", list_actions);
  given->input.add(*sub);
  sub->add_flag("--allowed", given->allowed, "List only the calls that are allowed or logged");
  given->options.add(*sub, {kLimits, kInput, kSame, kImport, kJson});
}

}  // namespace secequiv::cli
