// `why`: names the rule that decided one system call, and what would change the decision.
#include "analyze/why.h"

#include "cli/call_options.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/filter_or_process.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct WhyOptions {
  Options options;
  FilterOrProcess input;
  CallOptions call;
  bool trace = false;
};

Result<int> explain_call(WhyOptions& given) {
  const auto data = given.call.read(given.options);
  if (!data) return data.error();
  auto stack = given.input.load(given.options);
  if (!stack) return stack.error();
  if (!given.call.given())
    given.options.note("note: the answer explains call number 0; choose another call with --nr");
  const auto found =
      why({std::move(*stack), *data, given.options.oci().arch, diagram_limits(given.options),
           given.call.record.empty(), given.call.recorded()});
  if (!found) return found.error();
  const int status = exit_code(found->notes.choices.empty() ? Verdict::kPass : Verdict::kUnknown);
  if (given.options.json) return print_json(to_json(*found), status);
  return print(why_text(*found, given.trace), status);
}

}  // namespace

void add_why(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "why",
      "Explain one decision: its rule and conditions, and what would change it", explain_call);
  given->input.add(*sub);
  given->call.add(*sub, given->options);
  sub->add_flag("--trace", given->trace, "Show the instructions executed");
  given->options.add(*sub, {kLimits, kInput, kJson});
}

}  // namespace secequiv::cli
