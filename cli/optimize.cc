// `optimize`: runs the passes of the built-in optimizer, on programs after turning them into rules.
#include "analyze/optimize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/filter_or_process.h"
#include "cli/profile_options.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/report/optimize.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::cli {
namespace {

struct OptimizeArguments {
  Options options;
  FilterOrProcess input;
  std::vector<std::string> passes;
  std::string stop_after;
  ProfileOptions profile;
  bool explain = false;
  bool as_programs = false;
  bool print_rules = false;
  bool print_plan = false;
  bool list = false;
  bool plain = false;
};

Result<std::vector<const Pass*>> chosen_passes(const OptimizeArguments& given) {
  auto passes = named_passes(given.passes);
  if (passes && !given.stop_after.empty())
    if (auto s = stop_after(given.stop_after, *passes); !s) return s.error();
  return passes;
}

// Prints notes and returns the text of the output.
std::string output_of(const OptimizeArguments& given, const OptimizeJob& job,
                      const OptimizeResult& result) {
  if (given.explain) print_note(changes_text(job, result));
  if (job.wanted != OptimizeJob::Wanted::kProgram) return result.text;
  if (!result.unproven.empty())
    given.options.note("note: the result is not proven equivalent: " + result.unproven);
  if (!result.lost_calls.empty())
    given.options.note("note: the kernel now has to run the filter for " + result.lost_calls);
  if (!result.fixpoint)
    given.options.note(
        "note: these passes undo each other's changes; the optimizer stopped without a fixpoint");
  note_length("the result", result.program, reading(given.options));
  return write_program(result.program, *form_from_name(given.options.to),
                       given.plain ? std::vector<std::string>() : annotate(result.program));
}

// Lifting gives rules, which these options need, and it makes one program of a stack.
Status may_skip_lifting(const OptimizeArguments& given, const Stack& stack) {
  const bool needs_rules = given.print_rules || given.print_plan || !given.profile.path.empty();
  if (!given.as_programs || is_policy(stack.filters)) return Ok{};
  if (!needs_rules && stack.filters.size() == 1) return Ok{};
  return make_error(ErrorCode::kUsage, "--no-lift",
                    "stacks, --print-rules, --print-plan and --profile need a policy");
}

Result<int> optimize_input(const OptimizeArguments& given) {
  if (given.list) return print(passes_text("--passes"));
  auto passes = chosen_passes(given);
  if (!passes) return passes.error();
  auto calls = given.profile.read();
  if (!calls) return calls.error();
  FilterOrProcess input = given.input;
  if (input.filter.empty() && input.pid == 0) input.filter = "-";
  auto stack = input.load(given.options);
  if (!stack) return stack.error();
  if (auto s = may_skip_lifting(given, *stack); !s) return s.error();
  const bool chosen = !given.passes.empty() || !given.stop_after.empty();
  using enum OptimizeJob::Wanted;
  const OptimizeJob job{std::move(*stack),
                        std::move(*passes),
                        std::move(*calls),
                        given.print_rules  ? kRules
                        : given.print_plan ? kPlan
                                           : kProgram,
                        !chosen && !given.as_programs,
                        given.options.oci().arch,
                        diagram_limits(given.options)};
  const auto result = optimize(job);
  if (!result) return result.error();
  if (!result->unknown.empty())  // a program may make calls that the policy's architectures lack
    given.options.note(
        fmt::format("note: {}: ignored {}, which the policy's architectures do not have",
                    shown_name(given.profile.path), fmt::join(result->unknown, ", ")));
  return write_output(output_of(given, job, *result), given.options);
}

}  // namespace

void add_optimize(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "optimize", "Optimize a policy, a program or a stack with the built-in passes",
      optimize_input);
  given->input.add(*sub);
  sub->get_option("filter")->default_str("-");
  add_passes(*sub, given->passes);
  sub->add_option("--stop-after", given->stop_after, "Skip the passes after this one");
  given->profile.add(*sub);
  sub->add_flag("--list", given->list, "List the built-in names, and exit");
  sub->add_flag("--changes", given->explain, "Report the changes of each pass on standard error");
  sub->add_flag("--no-lift", given->as_programs,
                "Run only bytecode passes on one program, without turning it into a policy");
  auto* rules =
      sub->add_flag("--print-rules", given->print_rules,
                    "Write the policy that results from the passes on rules, instead of a program");
  sub->add_flag("--print-plan", given->print_plan,
                "Write the layout plan (how a program finds a system call), instead of a program")
      ->excludes(rules);
  sub->add_flag("--plain", given->plain, "Write no comments in text output");
  given->options.add(*sub, {kInput, kLimits, kImport});
  given->options.add_form(*sub, "asm");
  given->options.add_output(*sub);
}

}  // namespace secequiv::cli
