// `lift`: turns a filter, or a stack of filters, back into a policy.
#include "analyze/lift.h"

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/filter_or_process.h"
#include "harness/policy/json.h"

namespace secequiv::cli {
namespace {

struct LiftOptions {
  Options options;
  FilterOrProcess input;
  EngineOptions engine;
};

Result<int> lift_filters(const LiftOptions& given) {
  auto stack = given.input.load(given.options);
  if (!stack) return stack.error();
  const auto lifted = lift({std::move(*stack), given.options.oci().arch, given.engine.limits()});
  if (!lifted) return lifted.error();
  auto status = write_output(write_policy(lifted->policy), given.options);
  if (!status) return status;
  given.options.note("note: proven equivalent: " + summary(*lifted));
  return status;
}

}  // namespace

void add_lift(CLI::App& app, Context& context) {
  const auto [sub, given] =
      add_command(app, context, "lift", "Turn a filter, or a stack of filters, back into a policy",
                  lift_filters);
  given->input.add(*sub);
  given->engine.add_memory(*sub);
  given->options.add(*sub, {kInput, kImport});
  given->options.add_output(*sub);
}

}  // namespace secequiv::cli
