// `optimize`: the built-in optimizer, pass by pass.
#include "harness/report/optimize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/common.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/policy/json.h"
#include "harness/seccomp/annotate.h"
#include "harness/seccomp/profile.h"

namespace secequiv::cli {
namespace {

struct OptimizeArguments {
  Options options;
  std::string input = "-";
  std::vector<std::string> passes;
  std::string stop_after;
  std::string profile;
  bool explain = false;
  bool print_rules = false;
  bool print_plan = false;
  bool list = false;
  bool plain = false;
};

// With an error, names the option.
Result<std::vector<const Pass*>> chosen_passes(const OptimizeArguments& given) {
  auto passes = named_passes(given.passes);
  if (!passes) {
    passes.error().where = "--passes";
    return passes;
  }
  if (given.stop_after.empty()) return passes;
  auto stopped = stop_after(given.stop_after, *passes);
  if (stopped) return passes;
  stopped.error().where = "--stop-after";
  return stopped.error();
}

Result<std::vector<SyscallCount>> counted_calls(const OptimizeArguments& given) {
  if (given.profile.empty()) return std::vector<SyscallCount>();
  auto text = read_input(given.profile);
  if (!text) return text.error();
  return read_profile(*text, shown_name(given.profile));
}

// A note, not an error: a program may make calls that the policy's architectures do not have.
void note_unknown(const OptimizeArguments& given, std::span<const SyscallCount> calls,
                  const Policy& policy) {
  const auto nowhere = unknown_calls(calls, policy.arches);
  if (!nowhere.empty())
    warn(fmt::format("note: {}: not a system call of the policy's architectures: {}",
                     shown_name(given.profile), fmt::join(nowhere, ", ")));
}

Status needs_policy(const OptimizeArguments& given, const Source& source) {
  if (source.policy) return Ok{};
  const char* option = given.print_rules       ? "--print-rules"
                       : given.print_plan      ? "--print-plan"
                       : given.profile.empty() ? nullptr
                                               : "--profile";
  if (option == nullptr) return Ok{};
  return make_error(ErrorCode::kUsage, option,
                    fmt::format("'{}' is a program; this option is about policies", source.name));
}

Status profile_is_used(const OptimizeArguments& given, std::span<const Pass* const> passes) {
  const bool used = std::ranges::find(passes, "hot-first", &Pass::name) != passes.end();
  if (given.profile.empty() || (used && !given.print_rules)) return Ok{};
  return make_error(ErrorCode::kUsage, "--profile",
                    "no pass here uses a profile; only hot-first does");
}

int optimize_input(const OptimizeArguments& given) {
  if (given.list) return print(passes_text());
  auto passes = chosen_passes(given);
  if (!passes) return report(passes.error(), given.options);
  auto calls = counted_calls(given);
  if (!calls) return report(calls.error(), given.options);
  auto source = load_accepted(given.input, given.options);
  if (!source) return report(source.error(), given.options);
  if (auto s = needs_policy(given, *source); !s) return report(s.error(), given.options);
  if (auto s = profile_is_used(given, *passes); !s) return report(s.error(), given.options);
  if (source->policy) note_unknown(given, *calls, *source->policy);
  const auto write = [&](const std::string& text) {
    const Status written = write_file(given.options.output, text);
    return written ? 0 : report(written.error(), given.options);
  };
  if (given.print_rules || given.print_plan) {
    Simplified rules = simplify(*source->policy, *passes);
    const std::string text = given.print_rules
                                 ? write_policy(rules.policy)
                                 : plan_text(lay_out(rules.policy, *passes, *calls, &rules.steps));
    if (given.explain) fmt::print(stderr, "{}", steps_text(rules.steps));
    return write(text);
  }
  const Optimized result = source->policy ? optimize(*source->policy, *passes, *calls)
                                          : optimize(source->program, *passes);
  if (given.explain) {
    fmt::print(stderr, "{}{} -> {} instructions\n", steps_text(result.steps),
               source->program.size(), result.program.size());
  }
  if (!result.fixpoint)
    warn("note: stopped before a fixpoint: these passes undo each other's work");
  note_length("the result", result.program);
  const auto comments = given.plain ? std::vector<std::string>() : annotate(result.program);
  return write(write_program(result.program, *form_from_name(given.options.to), comments));
}

}  // namespace

void add_optimize(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "optimize", "Optimize a policy or a program with the built-in passes, to a fixpoint");
  auto given = std::make_shared<OptimizeArguments>();
  sub->add_option("input", given->input,
                  "Policy, or program in any form (only bytecode passes apply); - for standard "
                  "input")
      ->capture_default_str();
  sub->add_option("--passes", given->passes,
                  "Run only these passes, in this order, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_option("--stop-after", given->stop_after, "Skip the passes after this one");
  sub->add_option("--profile", given->profile,
                  "Read how often each call is made: strace -c, lines 'name calls', or JSON");
  sub->add_flag("--list", given->list, "List what is built in, and exit");
  sub->add_flag("--changes", given->explain, "Report on standard error what each pass changed");
  auto* rules = sub->add_flag("--print-rules", given->print_rules,
                              "Write the policy after the passes over rules, not a program");
  sub->add_flag("--print-plan", given->print_plan,
                "Write how system calls are searched for, not a program")
      ->excludes(rules);
  sub->add_flag("--plain", given->plain, "Write no comments in text output");
  given->options.add_input(*sub);
  given->options.add_import(*sub);
  given->options.add_output(*sub, "asm");
  sub->callback([given, &context] { context.status = optimize_input(*given); });
}

}  // namespace secequiv::cli
