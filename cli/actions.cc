// `actions`: the action that system calls get whatever their arguments.
#include "analyze/actions.h"

#include "cli/engine_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct ActionsOptions {
  Options options;
  std::string filter;
  EngineOptions engine;
};

int list_actions(const ActionsOptions& given) {
  auto stack = load_accepted_stack(given.filter, given.options);
  if (!stack) return report(stack.error(), given.options);
  const auto found = actions({{given.filter, std::move(*stack)},
                              given.options.sameness(),
                              given.options.oci().arch,
                              given.engine.limits()});
  if (!found) return report(found.error(), given.options);
  return print(given.options.json ? render(to_json(*found)) : actions_text(*found));
}

}  // namespace

void add_actions(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "actions", "List which system calls get which action, and which depend on arguments");
  auto given = std::make_shared<ActionsOptions>();
  sub->add_option("filter", given->filter, "Program in any form, or a policy; several with commas")
      ->required();
  given->engine.add_memory(*sub);
  given->options.add_input(*sub);
  given->options.add_same(*sub);
  given->options.add_import(*sub);
  given->options.add_json(*sub);
  sub->callback([given, &context] { context.status = list_actions(*given); });
}

}  // namespace secequiv::cli
