#include "cli/pair_options.h"

#include <fmt/format.h>

#include "analyze/derived.h"
#include "cli/inputs.h"
#include "harness/bpf/refusal.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/resolved.h"

namespace secequiv::cli {
namespace {

// The output of the optimizer or compiler under test, or else of the built-in optimizer.
Result<Source> optimized(const Source& before, const TargetOptions& target_options,
                         const Options& options) {
  if (const auto refusal = refusal_of(before.program, LengthRule::kUnlimited))
    return make_error(ErrorCode::kRejected, before.name, describe(*refusal, before.program));
  auto target = open_target(target_options, options);
  if (!target) return target.error();
  if (!target->any()) {
    const Optimized after = before.policy ? optimize(*before.policy) : optimize(before.program);
    return Source{"built-in optimizer", after.program, std::nullopt};
  }
  if (target->compiler && !before.policy)
    return make_error(
        ErrorCode::kUsage, "--compiler",
        fmt::format("expected a policy for --compiler, found the program {}", before.name));
  auto answer = target->compiler ? target->compiler->compile(write_resolved(*before.policy))
                                 : target->optimizer->optimize(before.program);
  if (answer.ok())
    return Source{fmt::format("'{}'", target_options.name()), std::move(answer.value),
                  std::nullopt};
  const bool unsupported = answer.outcome == Outcome::kUnsupported;
  return make_error(unsupported ? ErrorCode::kUsage : ErrorCode::kAdapter,
                    fmt::format("'{}'", target_options.name()),
                    fmt::format("{}: {}", outcome_name(answer.outcome), answer.detail));
}

}  // namespace

void PairOptions::add(CLI::App& app) {
  app.add_option("--before-cmd", before_cmd, "Run this command to get the unoptimized program");
  app.add_option("--after-cmd", after_cmd, "Run this command to get the optimized program");
  app.add_option("--cmd-timeout", cmd_timeout,
                 "Stop --before-cmd and --after-cmd after this many seconds")
      ->check(seconds())
      ->capture_default_str();
  add_derivation(app);
}

void PairOptions::add_derivation(CLI::App& app) {
  app.add_option("--policy", policy, "Also derive inputs from this policy");
  add_number(app, "--max-inputs", max_inputs, 0, 1000000000,
             "Derive at most this many inputs from each source");
}

Result<std::pair<Source, Source>> PairOptions::sides(const Options& options,
                                                     const TargetOptions& target) const {
  const int commands = int{!before_cmd.empty()} + int{!after_cmd.empty()};
  if (inputs.size() + static_cast<std::size_t>(commands) > 2)
    return make_error(ErrorCode::kUsage, {},
                      "expected at most two programs, including --before-cmd and --after-cmd");
  std::vector<Source> given;
  const auto add = [&](Result<Source> source) -> Status {
    if (!source) return source.error();
    given.push_back(std::move(*source));
    return Ok{};
  };
  if (inputs.empty() && before_cmd.empty()) {
    auto rules = parse_policy(default_policy_text(), "default policy", options);
    if (!rules) return rules.error();
    Program program = compile(*rules);
    if (auto s = add(Source{fmt::format("default policy '{}' (compiled)", rules->name),
                            std::move(program), std::move(*rules)});
        !s)
      return s.error();
  }
  if (!before_cmd.empty())
    if (auto s = add(load_command(before_cmd, cmd_timeout, options)); !s) return s.error();
  for (const std::string& path : inputs)
    if (auto s = add(load_source(path, options)); !s) return s.error();
  if (!after_cmd.empty())
    if (auto s = add(load_command(after_cmd, cmd_timeout, options)); !s) return s.error();
  if (given.size() == 1) {
    auto after = optimized(given.front(), target, options);
    if (!after) return after.error();
    given.push_back(std::move(*after));
  } else if (!target.name().empty()) {
    return make_error(
        ErrorCode::kUsage, {},
        "expected only one input, because --optimizer or --compiler produces the other program");
  }
  note_swapped(given[0], given[1]);
  return std::pair(std::move(given[0]), std::move(given[1]));
}

Result<Cases> PairOptions::cases(const Source& before, const Source& after,
                                 const Options& options) const {
  const auto also = load_optional_policy(policy, options);
  if (!also) return also.error();
  return derived_cases(*also, before, after, max_inputs);
}

}  // namespace secequiv::cli
