// `check`: the main job. Policy or pair in; inputs run, compared, edges accounted for, equivalence
// proven; verdict out.
#include "harness/bpf/check.h"

#include <fmt/format.h>

#include "harness/base/file.h"
#include "harness/cli/engine_options.h"
#include "harness/cli/target_options.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/cases.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/json.h"
#include "harness/report/text.h"
#include "verify/check_pair.h"

namespace secequiv::cli {
namespace {

struct CheckJob {
  Options options;
  std::vector<std::string> inputs;
  std::string before_cmd;
  std::string after_cmd;
  std::string policy;
  std::string listing;
  double cmd_timeout = 60;
  std::size_t max_inputs = CaseLimits{}.total;
  bool any_length = false;
  TargetOptions target;
  EngineOptions engine;
};

// What the optimizer or compiler under test makes of `before`; without one, the built-in optimizer.
Result<Source> optimized(const Source& before, const CheckJob& job) {
  if (const auto refusal = check(before.program, LengthRule::kUnlimited))
    return make_error(ErrorCode::kRejected, before.name, describe(*refusal, before.program));
  auto target = open_target(job.target);
  if (!target) return target.error();
  if (!target->any()) {
    const Optimized after = before.policy ? optimize(*before.policy) : optimize(before.program);
    return Source{"built-in optimizer", after.program, std::nullopt};
  }
  if (target->compiler && !before.policy)
    return make_error(
        ErrorCode::kUsage, "--compiler",
        fmt::format("{} is a program, and a compiler is given a policy", before.name));
  auto answer = target->compiler ? target->compiler->compile(write_policy(*before.policy))
                                 : target->optimizer->optimize(before.program);
  if (answer.ok())
    return Source{fmt::format("'{}'", job.target.name()), std::move(answer.value), std::nullopt};
  const bool unsupported = answer.outcome == Outcome::kUnsupported;
  return make_error(unsupported ? ErrorCode::kUsage : ErrorCode::kAdapter,
                    fmt::format("'{}'", job.target.name()),
                    fmt::format("{}: {}", outcome_name(answer.outcome), answer.detail));
}

// The two sides, from the commands or files given; whatever is missing at the end is the
// optimizer's work.
Result<std::pair<Source, Source>> sides(const CheckJob& job) {
  const int commands = int{!job.before_cmd.empty()} + int{!job.after_cmd.empty()};
  if (job.inputs.size() + static_cast<std::size_t>(commands) > 2)
    return make_error(ErrorCode::kUsage, {}, "expected at most two programs, counting commands");
  std::vector<Source> given;
  const auto add = [&](Result<Source> source) -> Status {
    if (!source) return source.error();
    given.push_back(std::move(*source));
    return Ok{};
  };
  if (job.inputs.empty() && job.before_cmd.empty()) {
    auto policy = parse_policy(default_policy_text(), "default policy", job.options);
    if (!policy) return policy.error();
    Program program = compile(*policy);
    if (auto s = add(Source{fmt::format("default policy '{}' (compiled)", policy->name),
                            std::move(program), std::move(*policy)});
        !s)
      return s.error();
  }
  if (!job.before_cmd.empty())
    if (auto s = add(load_command(job.before_cmd, job.cmd_timeout, job.options)); !s)
      return s.error();
  for (const std::string& path : job.inputs)
    if (auto s = add(load_source(path, job.options)); !s) return s.error();
  if (!job.after_cmd.empty())
    if (auto s = add(load_command(job.after_cmd, job.cmd_timeout, job.options)); !s)
      return s.error();
  if (given.size() == 1) {
    auto after = optimized(given.front(), job);
    if (!after) return after.error();
    given.push_back(std::move(*after));
  } else if (!job.target.name().empty()) {
    return make_error(ErrorCode::kUsage, {},
                      "expected one input beside --optimizer or --compiler, which makes the other");
  }
  return std::pair(std::move(given[0]), std::move(given[1]));
}

Result<Cases> inputs_for(const Source& before, const Source& after, const CheckJob& job) {
  CaseLimits limits;
  limits.total = job.max_inputs;
  Cases all;
  const auto add = [&](Cases more) {
    all.dropped += more.dropped;
    all.inputs.insert(all.inputs.end(), more.inputs.begin(), more.inputs.end());
  };
  if (!job.policy.empty()) {
    auto policy = load_policy(job.policy, job.options);
    if (!policy) return policy.error();
    add(derive_cases(*policy, limits));
  }
  for (const Source* side : {&before, &after}) {
    if (side->policy) add(derive_cases(*side->policy, limits));
    if (!check(side->program, LengthRule::kUnlimited)) add(derive_cases(side->program, limits));
  }
  return all;
}

int run_check(const CheckJob& job) {
  if (auto s = keep_json_alone(job.options, "--listing", job.listing); !s)
    return report(s.error(), job.options);
  auto both = sides(job);
  if (!both) return report(both.error(), job.options);
  const auto& [before, after] = *both;
  auto cases = inputs_for(before, after, job);
  if (!cases) return report(cases.error(), job.options);
  auto result = check_pair(
      SideReport{before.name, before.program, {}}, SideReport{after.name, after.program, {}},
      job.options.sameness(), cases->inputs,
      CheckOptions{job.engine.engine(), job.engine.budget(job.options), !job.any_length});
  if (!result) return report(result.error(), job.options);
  result->dropped = cases->dropped;
  if (!job.listing.empty())
    if (const Status written = write_file(job.listing, result->listing); !written)
      return report(written.error(), job.options);
  return print(job.options.json ? render(to_json(*result)) : check_text(*result),
               exit_code(result->verdict));
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("check",
                                     "The main job: fuzz, cover and prove a pair of programs, or a "
                                     "policy and its optimized form.\n"
                                     "No input: the embedded default policy. One: it and what "
                                     "--optimizer or --compiler makes of it\n"
                                     "(without them, the built-in optimizer). Two: before and "
                                     "after");
  auto job = std::make_shared<CheckJob>();
  sub->add_option("input", job->inputs, "Policies or programs in any form; - for standard input")
      ->expected(1, 2);
  sub->add_option("--before-cmd", job->before_cmd,
                  "Command that prints the unoptimized program, in any form");
  sub->add_option("--after-cmd", job->after_cmd,
                  "Command that prints the optimized program, in any form");
  sub->add_option("--policy", job->policy, "Also derive inputs from this policy");
  sub->add_option("--cmd-timeout", job->cmd_timeout, "Seconds a command may take")
      ->check(seconds())
      ->capture_default_str();
  sub->add_option("--max-inputs", job->max_inputs, "Most inputs derived from each source")
      ->check(CLI::Range(0, 1000000000))
      ->capture_default_str();
  sub->add_option(
      "--listing", job->listing,
      "Write the optimized program's annotated listing to this file, - for standard output");
  sub->add_flag("--any-length", job->any_length,
                "Let the optimized program exceed 4096 instructions");
  job->target.add(*sub, false);
  job->engine.add_engine(*sub);
  job->options.add_input(*sub);
  job->options.add_timeout(*sub,
                           "Seconds for the proof, and again for all edges; running out gives "
                           "'unknown'");
  job->options.add_same(*sub);
  job->options.add_import(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = run_check(*job); });
}

}  // namespace secequiv::cli
