// `optimize`: runs the passes of the built-in optimizer.
#include "analyze/optimize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.h"
#include "cli/profile_options.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/report/optimize.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::cli {
namespace {

struct OptimizeArguments {
  Options options;
  std::string input = "-";
  std::vector<std::string> passes;
  std::string stop_after;
  ProfileOptions profile;
  bool explain = false;
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

Status needs_policy(const OptimizeArguments& given, const Source& source) {
  if (source.policy) return Ok{};
  const char* option = given.print_rules            ? "--print-rules"
                       : given.print_plan           ? "--print-plan"
                       : given.profile.path.empty() ? nullptr
                                                    : "--profile";
  if (option == nullptr) return Ok{};
  return make_error(ErrorCode::kUsage, option,
                    fmt::format("expected a policy, found the program '{}'", source.name));
}

// Prints notes and returns the text of the output.
std::string output_of(const OptimizeArguments& given, const OptimizeJob& job,
                      const OptimizeResult& result) {
  if (given.explain) print_note(steps_text(result.steps));
  if (job.wanted != OptimizeJob::Wanted::kProgram) return result.text;
  if (given.explain)
    print_note(
        fmt::format("{} -> {} instructions\n", job.source.program.size(), result.program.size()));
  if (!result.fixpoint)
    given.options.note(
        "note: these passes undo each other's changes; the optimizer stopped without a fixpoint");
  note_length("the result", result.program, reading(given.options));
  return write_program(result.program, *form_from_name(given.options.to),
                       given.plain ? std::vector<std::string>() : annotate(result.program));
}

Result<int> optimize_input(const OptimizeArguments& given) {
  if (given.list) return print(passes_text("--passes"));
  auto passes = chosen_passes(given);
  if (!passes) return passes.error();
  auto calls = given.profile.read();
  if (!calls) return calls.error();
  auto source = load_accepted(given.input, reading(given.options));
  if (!source) return source.error();
  if (auto s = needs_policy(given, *source); !s) return s.error();
  using enum OptimizeJob::Wanted;
  const OptimizeJob job{std::move(*source), std::move(*passes), std::move(*calls),
                        given.print_rules  ? kRules
                        : given.print_plan ? kPlan
                                           : kProgram};
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
      app, context, "optimize",
      "Optimize a policy or a program with the built-in passes, to a fixpoint", optimize_input);
  sub->add_option("input", given->input,
                  "Policy, or program in any form (bytecode passes only); - for standard "
                  "input")
      ->capture_default_str();
  add_passes(*sub, given->passes);
  sub->add_option("--stop-after", given->stop_after, "Skip the passes after this one");
  given->profile.add(*sub);
  sub->add_flag("--list", given->list, "List the built-in names, and exit");
  sub->add_flag("--changes", given->explain, "Report the changes of each pass on standard error");
  auto* rules =
      sub->add_flag("--print-rules", given->print_rules,
                    "Write the policy that results from the passes on rules, instead of a program");
  sub->add_flag("--print-plan", given->print_plan,
                "Write the layout plan (how a program finds a system call), instead of a program")
      ->excludes(rules);
  sub->add_flag("--plain", given->plain, "Write no comments in text output");
  given->options.add(*sub, {kInput, kImport});
  given->options.add_form(*sub, "asm");
  given->options.add_output(*sub);
}

}  // namespace secequiv::cli
