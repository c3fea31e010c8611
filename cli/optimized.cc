#include "cli/optimized.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.h"
#include "cli/interrupts.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"

namespace secequiv::cli {

Result<Source> optimized(const Source& before, const TargetOptions& target, const Options& options,
                         const std::vector<const Pass*>& passes) {
  RETURN_IF_ERROR(expect_legal(before));
  ASSIGN_OR_RETURN(auto opened, open_target(target, options));
  if (!opened.any()) {
    const Optimized after =
        before.policy ? optimize(*before.policy, passes) : optimize(before.program, passes);
    return Source{"built-in optimizer", after.program, std::nullopt};
  }
  if (opened.compiler && !before.policy)
    return make_error(ErrorCode::kUsage, "--compiler",
                      fmt::format("expected a policy, found the program {}", before.name));
  std::optional<CommandRun> running;
  if (opened.external) running.emplace();
  auto answer = opened.compiler ? opened.compiler->compile(*before.policy)
                                : opened.optimizer->optimize(before.program);
  if (opened.external && stop_wanted()) return stopped_command(fmt::format("'{}'", target.name()));
  if (answer.ok())
    return Source{fmt::format("'{}'", target.name()), std::move(answer.value), std::nullopt};
  const bool usage =
      answer.outcome == Outcome::kUnsupported || answer.outcome == Outcome::kCannotRun;
  return make_error(usage ? ErrorCode::kUsage : ErrorCode::kAdapter,
                    fmt::format("'{}'", target.name()),
                    fmt::format("{}: {}", outcome_name(answer.outcome), answer.detail));
}

void CompilationOptions::add(Command& command) {
  target.add(command, false);
  add_passes(command, passes)->excludes({"--optimizer", "--compiler"});
}

std::string CompilationOptions::described(const std::vector<const Pass*>& chosen) const {
  if (chosen.empty()) return kNotOptimized;
  if (!target.compiler.empty()) return fmt::format("compiled by '{}'", target.compiler);
  if (!target.optimizer.empty())
    return fmt::format("compiled, then optimized by '{}'", target.optimizer);
  return passes.empty() ? "compiled and optimized by the built-in passes"
                        : fmt::format("compiled and optimized by the built-in passes {}",
                                      fmt::join(passes, ", "));
}

Status CompilationOptions::apply(std::vector<Stack>& stacks, const Options& options) const {
  ASSIGN_OR_RETURN(const auto chosen, named_passes(passes));
  bool has_policy = false;
  for (Stack& stack : stacks)
    for (Source& source : stack.filters) {
      if (source.policy) {
        has_policy = true;
        ASSIGN_OR_RETURN(auto made, optimized(source, target, options, chosen));
        source.program = std::move(made.program);
        source.compilation = described(chosen);
      }
      RETURN_IF_ERROR(expect_accepted(source, reading(options)));
    }
  if (!has_policy && (!target.name().empty() || !passes.empty()))
    return make_error(ErrorCode::kUsage, {},
                      "expected a policy with --optimizer, --compiler or --passes, found only "
                      "programs, which the command does not change");
  return Ok{};
}

Result<std::vector<Stack>> CompilationOptions::load(const std::vector<std::string>& inputs,
                                                    const Options& options) const {
  std::vector<Stack> out;
  out.reserve(inputs.size());
  for (const std::string& paths : inputs) {
    ASSIGN_OR_RETURN(auto filters, load_stack(paths, reading(options)));
    out.push_back({shown_name(paths), std::move(filters)});
  }
  RETURN_IF_ERROR(apply(out, options));
  for (Stack& stack : out)
    if (stack.filters.size() == 1) stack.name = stack.filters.front().name;
  return out;
}

}  // namespace secequiv::cli
