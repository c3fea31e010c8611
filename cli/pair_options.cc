#include "cli/pair_options.h"

#include <fmt/format.h>

#include "analyze/derived.h"
#include "cli/arguments.h"
#include "cli/interrupts.h"
#include "cli/optimized.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"

namespace secequiv::cli {

// Returns the embedded policy that `check` uses without inputs:
// corpus/policies/gvisor/systrap.json.
std::string_view default_policy_text();

void PairOptions::add(Command& command) {
  command.add_option("--before-cmd", before_cmd, "Run this command to get the unoptimized program");
  command.add_option("--after-cmd", after_cmd, "Run this command to get the optimized program");
  command
      .add_option("--cmd-timeout", cmd_timeout,
                  "Stop --before-cmd and --after-cmd after this many seconds")
      ->check(seconds())
      ->shows_default();
  add_derivation(command);
}

void PairOptions::add_derivation(Command& command) {
  command.add_option("--policy", policy, "Also derive inputs from this policy");
  add_number(command, "--max-inputs", max_inputs, 0, 1000000000,
             "Derive at most this many inputs from each source");
}

Result<std::pair<Source, Source>> PairOptions::sides(const Options& options,
                                                     const TargetOptions& target,
                                                     PairNotes& notes) const {
  const Reading how = reading(options);
  const auto output_of = [&](const std::string& command) -> Result<Source> {
    const CommandRun running;
    const AdapterLimits limits{.seconds = cmd_timeout,
                               .output_bytes = kMaxInputBytes,
                               .confinement = options.confinement()};
    auto out = load_command(command, limits, how);
    if (stop_wanted()) return stopped_command(fmt::format("command '{}'", command));
    return out;
  };
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
    ASSIGN_OR_RETURN(auto rules, parse_policy(default_policy_text(), "default policy", how));
    Program program = compile(rules);
    Source source{fmt::format("default policy '{}'", rules.name), std::move(program),
                  std::move(rules)};
    source.compilation = kNotOptimized;
    RETURN_IF_ERROR(add(std::move(source)));
  }
  if (!before_cmd.empty()) RETURN_IF_ERROR(add(output_of(before_cmd)));
  for (const std::string& path : inputs) RETURN_IF_ERROR(add(load_source(path, how)));
  if (!after_cmd.empty()) RETURN_IF_ERROR(add(output_of(after_cmd)));
  if (given.size() == 1) {
    ASSIGN_OR_RETURN(auto after, optimized(given.front(), target, options));
    given.push_back(std::move(after));
  } else if (!target.name().empty()) {
    return make_error(
        ErrorCode::kUsage, {},
        "expected only one input, because --optimizer or --compiler produces the other program");
  }
  notes = note_pair({given.data(), 1}, {&given[1], 1}, how);
  return std::pair(std::move(given[0]), std::move(given[1]));
}

Result<Cases> PairOptions::cases(const std::vector<const Source*>& sources,
                                 const Options& options) const {
  ASSIGN_OR_RETURN(const auto also, load_optional_policy(policy, reading(options)));
  return derived_cases(also, sources, max_inputs);
}

}  // namespace secequiv::cli
