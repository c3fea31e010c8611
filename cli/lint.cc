// `lint`: finds rules of a policy that could be removed, and rules that are probably mistakes.
#include "analyze/lint.h"

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/reading.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct LintOptions {
  Options options;
  std::string policy;
  bool strict = false;
};

Result<int> lint_policy(const LintOptions& given) {
  Reading reader = reading(given.options);
  reader.failure = [](const LoadFailure&) {};  // the report shows it
  ASSIGN_OR_RETURN(auto imported, load_import(given.policy, reader));
  if (given.options.strict_names) RETURN_IF_ERROR(check_names(imported, reader));
  auto host = read_for(imported, reading(given.options));
  const LintJob job{std::move(imported),
                    given.policy,
                    given.policy == "-" ? "" : given.policy,
                    given.strict,
                    diagram_limits(given.options),
                    std::move(host)};
  ASSIGN_OR_RETURN(const auto found, lint(job));
  if (given.options.quiet && !given.options.json)  // --quiet keeps warnings
    for (const auto* names : {&found.errors, &found.unknown})
      for (const UnknownName& name : *names) given.options.warning(name.text());
  if (given.options.quiet && !given.options.json)
    for (const LoadFailure& failure : found.not_loaded) given.options.warning(failure.text());
  return print_found(given.options.json ? render(to_json(found)) : lint_text(found),
                     reported(found), given.options, Ok{}, VerdictLine::kFirst);
}

}  // namespace

void add_lint(Commands& all) {
  const auto [sub, given] = add_command(
      all, "lint", "Find rules of a policy that decide nothing, and warn about likely mistakes",
      lint_policy);
  sub->add_option("policy", given->policy, "Policy, in any format")->required();
  sub->add_flag("--strict", given->strict, "Treat warnings as failures");
  given->options.add(*sub, {kLimits});
  given->options.add(*sub, {kImport, kQuiet, kJson, kReports});
}

}  // namespace secequiv::cli
