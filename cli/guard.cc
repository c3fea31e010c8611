// `guard`: finds ways around a filter, with bits that the kernel ignores.
#include "analyze/guard.h"

#include <fmt/format.h>

#include "analyze/guard_try.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/filter_or_process.h"
#include "cli/policy_form_option.h"
#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

struct GuardOptions {
  Options options;
  FilterOrProcess input;
  bool run = false;
  bool fix = false;
  PolicyFormOption form;
};

Result<int> write_fixed(const GuardOptions& given, const GuardJob& job) {
  const Options& options = given.options;
  if (job.stack.filters.size() != 1 || !job.stack.filters.front().policy)
    return make_error(ErrorCode::kUsage, "--fix",
                      "expected one policy; `lift` turns a filter into a policy");
  ASSIGN_OR_RETURN(const auto fixed, without_holes(*job.stack.filters.front().policy, job));
  ASSIGN_OR_RETURN(const auto text, given.form.write(fixed.policy, job.stack.name, options,
                                                     job.stack.filters.front().parts));
  auto status = write_output(text, options);
  if (!status) return status;
  const auto name = [](const std::string& call) { return call; };
  options.note(fixed.changed.empty()
                   ? "note: proven: the policy has no hole, so nothing changed"
                   : fmt::format("note: proven: no hole remains, and no effect is allowed that the "
                                 "given policy refuses; the rules of {} changed",
                                 first_and_count(fixed.changed, 4, name)));
  for (const DoorFinding& door : fixed.doors)
    if (door.certain) options.warning("another way remains: " + door_line(door));
  return status;
}

Result<int> guard_filter(const GuardOptions& given) {
  if (!given.fix && given.options.output != "-")
    return make_error(ErrorCode::kUsage, "--output", "only --fix writes a policy");
  ASSIGN_OR_RETURN(auto stack, given.input.load(given.options));
  const GuardJob job{std::move(stack), given.options.oci().arch, diagram_limits(given.options)};
  if (given.fix) return write_fixed(given, job);
  ASSIGN_OR_RETURN(auto found, guard(job));
  if (given.run)
    if (const Status tried = try_holes(job.stack.filters, found); !tried) return tried.error();
  return print_found(given.options.json ? render(to_json(found)) : guard_text(found),
                     reported(found), given.options, Ok{}, VerdictLine::kFirst);
}

}  // namespace

void add_guard(Commands& all) {
  const auto [sub, given] = add_command(
      all, "guard", "Find ways around a filter, for example through bits that the kernel ignores",
      guard_filter);
  given->input.add(*sub);
  sub->add_flag("--try", given->run,
                "Run both inputs of each finding in a child with the filter installed");
  Option* const fix =
      sub->add_flag("--fix", given->fix,
                    "Write a corrected policy that tests only the bits that the kernel reads");
  given->form.add(*sub);
  given->form.add_allow_loss(*sub);
  given->options.add(*sub, {kInput, kLimits, kImport, kQuiet, kJson, kReports});
  given->options.add_output(*sub);
  for (const char* name : {"--as", "--allow-loss"}) sub->get_option(name)->needs("--fix");
  for (const char* name : {"--json", "--try"}) fix->excludes({name});
  for (const auto& [name, file] : given->options.reports)
    fix->excludes({fmt::format("--{}", name)});
}

}  // namespace secequiv::cli
