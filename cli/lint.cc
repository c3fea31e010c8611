// `lint`: rules of a policy that could be removed, and rules that may not mean what they say.
#include "analyze/lint.h"

#include "cli/engine_options.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct LintOptions {
  Options options;
  std::string policy;
  EngineOptions engine;
  bool strict = false;
};

int lint_policy(const LintOptions& given) {
  auto policy = load_policy(given.policy, given.options);
  if (!policy) return report(policy.error(), given.options);
  LintJob job{std::move(*policy), given.policy, given.policy == "-" ? "" : given.policy,
              given.strict, given.engine.limits()};
  job.limits.seconds = given.options.timeout;
  const auto found = lint(job);
  if (!found) return report(found.error(), given.options);
  return print_found(given.options.json ? render(to_json(*found)) : lint_text(*found),
                     reported(*found), given.options);
}

}  // namespace

void add_lint(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "lint", "Find rules of a policy that decide nothing, and warn about likely mistakes");
  auto given = std::make_shared<LintOptions>();
  sub->add_option("policy", given->policy, "Policy, in any format")->required();
  sub->add_flag("--strict", given->strict, "Treat warnings as failures");
  given->options.add_timeout(*sub);
  given->engine.add_memory(*sub);
  given->options.add_import(*sub);
  given->options.add_quiet(*sub);
  given->options.add_json(*sub);
  given->options.add_reports(*sub);
  sub->callback([given, &context] { context.status = lint_policy(*given); });
}

}  // namespace secequiv::cli
