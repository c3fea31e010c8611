// `why`: what decided about one system call.
#include "analyze/why.h"

#include "cli/call_options.h"
#include "cli/engine_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct WhyOptions {
  Options options;
  std::string filter;
  CallOptions call;
  EngineOptions engine;
};

int explain_call(WhyOptions& given) {
  const auto data = given.call.read(given.options);
  if (!data) return report(data.error(), given.options);
  auto stack = load_accepted_stack(given.filter, given.options);
  if (!stack) return report(stack.error(), given.options);
  const auto found = why(
      {{given.filter, std::move(*stack)}, *data, given.options.oci().arch, given.engine.limits()});
  if (!found) return report(found.error(), given.options);
  return print(given.options.json ? render(to_json(*found)) : why_text(*found));
}

}  // namespace

void add_why(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "why", "Explain one decision: the conditions, the rule and the tests behind it");
  auto given = std::make_shared<WhyOptions>();
  sub->add_option("filter", given->filter, "Program in any form, or a policy; several with commas")
      ->required();
  given->call.add(*sub, given->options);
  given->engine.add_memory(*sub);
  given->options.add_input(*sub);
  given->options.add_json(*sub);
  sub->callback([given, &context] { context.status = explain_call(*given); });
}

}  // namespace secequiv::cli
