// `lift`: turns a filter, or a stack of filters, back into a policy.
#include "analyze/lift.h"

#include <fmt/format.h>

#include "analyze/load.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/filter_or_process.h"
#include "cli/policy_form_option.h"
#include "cli/values.h"

namespace secequiv::cli {
namespace {

struct LiftOptions {
  Options options;
  FilterOrProcess input;
  PolicyFormOption form;
  std::string approximate;
};

Result<int> lift_filters(const LiftOptions& given) {
  auto stack = given.input.load(given.options);
  if (!stack) return stack.error();
  const std::string name = stack->name;
  const std::string host = holds_for(read_for(stack->filters));
  const auto lifted = lift({.stack = std::move(*stack),
                            .host = given.options.oci().arch,
                            .limits = diagram_limits(given.options),
                            .approximate = approximation_from_name(given.approximate)});
  if (!lifted) return lifted.error();
  const auto text = given.form.write(lifted->policy, name, given.options);
  if (!text) return text.error();
  auto status = write_output(*text, given.options);
  if (!status) return status;
  const bool differs = !lifted->differences.empty();
  given.options.note(fmt::format("note: proven {}: {}", differs ? given.approximate : "equivalent",
                                 summary(*lifted)));
  for (const std::string& one : lifted->differences)
    given.options.warning(fmt::format("{} than the filter: {}", given.approximate, one));
  if (!host.empty()) given.options.note("note: the policy " + host);
  return status;
}

}  // namespace

void add_lift(CLI::App& app, Context& context) {
  const auto [sub, given] =
      add_command(app, context, "lift", "Turn a filter, or a stack of filters, back into a policy",
                  lift_filters);
  given->input.add(*sub);
  given->options.add(*sub, {kLimits, kInput, kImport});
  given->form.add(*sub);
  sub->add_option("--approximate", given->approximate,
                  "Write the nearest policy that differs only in this way, if none is exact")
      ->check(one_of({"stricter", "looser"}));
  given->options.add_output(*sub);
}

}  // namespace secequiv::cli
