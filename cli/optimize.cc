// `optimize`: the built-in optimizer, pass by pass.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "cli/common.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/json.h"
#include "harness/seccomp/annotate.h"
#include "harness/seccomp/profile.h"

namespace secequiv::cli {
namespace {

struct OptimizeJob {
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

std::string pass_list() {
  std::string out;
  const auto standard = standard_passes();
  for (const Pass& pass : all_passes())
    out +=
        fmt::format("{:<9} {:<26} {}{}\n", kind_name(pass.kind()), pass.name, pass.law,
                    std::ranges::find(standard, &pass) == standard.end() ? " Only if named." : "");
  return out;
}

Result<const Pass*> pass_named(const std::string& name, const char* option) {
  if (const Pass* pass = find_pass(name)) return pass;
  return make_error(ErrorCode::kUsage, option,
                    fmt::format("unknown pass '{}'; --list shows them{}", name,
                                did_you_mean(similar_names(
                                    name, all_passes() | std::views::transform(&Pass::name)))));
}

Result<std::vector<const Pass*>> chosen_passes(const OptimizeJob& job) {
  std::vector<const Pass*> passes;
  for (const std::string& name : job.passes) {
    auto pass = pass_named(name, "--passes");
    if (!pass) return pass.error();
    passes.push_back(*pass);
  }
  if (passes.empty()) passes = standard_passes();
  if (job.stop_after.empty()) return passes;
  auto last = pass_named(job.stop_after, "--stop-after");
  if (!last) return last.error();
  const auto at = std::ranges::find(passes, *last);
  if (at == passes.end())
    return make_error(ErrorCode::kUsage, "--stop-after",
                      fmt::format("'{}' is not among the passes that run", job.stop_after));
  passes.erase(at + 1, passes.end());
  return passes;
}

Result<std::vector<SyscallCount>> counted_calls(const OptimizeJob& job) {
  if (job.profile.empty()) return std::vector<SyscallCount>();
  auto text = read_input(job.profile);
  if (!text) return text.error();
  return read_profile(*text, shown_name(job.profile));
}

// Calls that no architecture of the policy has are no mistake: a program may make others, too.
void note_unknown(const OptimizeJob& job, std::span<const SyscallCount> calls,
                  const Policy& policy) {
  std::vector<std::string> nowhere;
  for (const SyscallCount& call : calls) nowhere.push_back(call.name);
  for (const Arch arch : policy.arches) {
    const auto unknown = unknown_calls(calls, arch);
    std::erase_if(nowhere, [&](const std::string& name) {
      return std::ranges::find(unknown, name) == unknown.end();
    });
  }
  if (!nowhere.empty())
    warn(fmt::format("note: {}: not a system call of the policy's architectures: {}",
                     shown_name(job.profile), fmt::join(nowhere, ", ")));
}

void explain(std::span<const PassStep> steps) {
  constexpr std::array kUnits = {"matchers", "entries", "instructions"};
  for (const PassStep& step : steps)
    if (step.changed)
      fmt::print(stderr, "round {} {:<26} {:>6} -> {} {}\n", step.round, step.pass, step.before,
                 step.after, kUnits[static_cast<std::size_t>(step.kind)]);
}

Status needs_policy(const OptimizeJob& job, const Source& source) {
  if (source.policy) return Ok{};
  const char* option = job.print_rules       ? "--print-rules"
                       : job.print_plan      ? "--print-plan"
                       : job.profile.empty() ? nullptr
                                             : "--profile";
  if (option == nullptr) return Ok{};
  return make_error(ErrorCode::kUsage, option,
                    fmt::format("'{}' is a program; this option is about policies", source.name));
}

Status profile_is_used(const OptimizeJob& job, std::span<const Pass* const> passes) {
  const bool used = std::ranges::find(passes, "hot-first", &Pass::name) != passes.end();
  if (job.profile.empty() || (used && !job.print_rules)) return Ok{};
  return make_error(ErrorCode::kUsage, "--profile",
                    "nothing here uses a profile: it is for the pass hot-first");
}

int optimize_input(const OptimizeJob& job) {
  if (job.list) return print(pass_list());
  auto passes = chosen_passes(job);
  if (!passes) return report(passes.error(), job.options);
  auto calls = counted_calls(job);
  if (!calls) return report(calls.error(), job.options);
  auto source = load_accepted(job.input, job.options);
  if (!source) return report(source.error(), job.options);
  if (auto s = needs_policy(job, *source); !s) return report(s.error(), job.options);
  if (auto s = profile_is_used(job, *passes); !s) return report(s.error(), job.options);
  if (source->policy) note_unknown(job, *calls, *source->policy);
  const auto write = [&](const std::string& text) {
    const Status written = write_file(job.options.output, text);
    return written ? 0 : report(written.error(), job.options);
  };
  if (job.print_rules || job.print_plan) {
    Simplified rules = simplify(*source->policy, *passes);
    const std::string text = job.print_rules
                                 ? write_policy(rules.policy)
                                 : plan_text(lay_out(rules.policy, *passes, *calls, &rules.steps));
    if (job.explain) explain(rules.steps);
    return write(text);
  }
  const Optimized result = source->policy ? optimize(*source->policy, *passes, *calls)
                                          : optimize(source->program, *passes);
  if (job.explain) {
    explain(result.steps);
    fmt::print(stderr, "{} -> {} instructions\n", source->program.size(), result.program.size());
  }
  if (!result.fixpoint)
    warn("note: stopped before a fixpoint: these passes undo each other's work");
  note_length("the result", result.program);
  const auto comments = job.plain ? std::vector<std::string>() : annotate(result.program);
  return write(write_program(result.program, *form_from_name(job.options.to), comments));
}

}  // namespace

void add_optimize(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "optimize", "Optimize a policy or a program with the built-in passes, to a fixpoint");
  auto job = std::make_shared<OptimizeJob>();
  sub->add_option("input", job->input,
                  "Policy, or program in any form (then only bytecode passes have work); - for "
                  "standard input")
      ->capture_default_str();
  sub->add_option("--passes", job->passes,
                  "Run only these passes, in this order, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  sub->add_option("--stop-after", job->stop_after, "Skip the passes after this one");
  sub->add_option("--profile", job->profile,
                  "Read how often each call is made: strace -c, lines 'name calls', or JSON");
  sub->add_flag("--list", job->list, "List what is built in, and exit");
  sub->add_flag("--changes", job->explain, "Report on standard error what each pass changed");
  auto* rules = sub->add_flag("--print-rules", job->print_rules,
                              "Write the policy after the passes over rules, not a program");
  sub->add_flag("--print-plan", job->print_plan,
                "Write how system calls are searched for, not a program")
      ->excludes(rules);
  sub->add_flag("--plain", job->plain, "Write no comments in text output");
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_output(*sub, "asm");
  sub->callback([job, &context] { context.status = optimize_input(*job); });
}

}  // namespace secequiv::cli
