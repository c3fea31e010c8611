#include "cli/target_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/builtin/builtin.h"
#include "harness/adapter/open.h"
#include "harness/base/text.h"
#include "harness/kernel/oracle.h"

namespace secequiv::cli {
namespace {

// A name with the prefix of built-in names must be one; any other text is a command.
Status known_builtin(const std::string& name, BuiltinKind kind, const char* option) {
  constexpr std::string_view kBroken = "broken:";
  if (!name.starts_with(kBroken)) return Ok{};
  const auto names = builtin_names(kind);
  return make_error(ErrorCode::kUsage, option,
                    fmt::format("unknown built-in name '{}'{}; `secequiv fuzz --list` shows them",
                                name, did_you_mean(similar_names(name, names))));
}

}  // namespace

void TargetOptions::add(CLI::App& app, bool evaluators) {
  const char* const kGroup = "Under test";
  app.add_option("--optimizer", optimizer,
                 "Test this optimizer: a command, serve:COMMAND, plugin:FILE.so or a built-in")
      ->group(kGroup);
  app.add_option("--compiler", compiler, "Test this compiler of policies, named in the same way")
      ->group(kGroup);
  if (evaluators)
    app.add_option("--evaluator", evaluator, "Test this interpreter, named in the same way")
        ->group(kGroup);
  app.add_option("--form", form, "Give programs to a command in this form")
      ->check(one_of({"raw", "raw-be", "asm", "ddd", "c"}))
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--request-timeout", seconds, "Treat a request as hung after this many seconds")
      ->check(cli::seconds())
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--request-memory", memory,
                 "Limit the data that it allocates to this many MiB, 0 for no limit")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str()
      ->group(kGroup);
}

std::string TargetOptions::replay_options() const {
  const TargetOptions usual;
  std::string out;
  if (form != usual.form) out += " --form " + form;
  if (seconds != usual.seconds) out += fmt::format(" --request-timeout {}", seconds);
  if (memory != usual.memory) out += fmt::format(" --request-memory {}", memory);
  return out;
}

Result<OpenTarget> open_target(const TargetOptions& options, const Options& shared) {
  const int given = int{!options.optimizer.empty()} + int{!options.compiler.empty()} +
                    int{!options.evaluator.empty()};
  if (given > 1)
    return make_error(ErrorCode::kUsage, {},
                      "expected one of --optimizer, --compiler and --evaluator");
  AdapterOptions opening;
  opening.limits.seconds = options.seconds;
  opening.limits.memory_bytes = options.memory << 20;
  opening.form = form_from_name(options.form).value_or(Form::kRaw);
  opening.plugin_host = "/proc/self/exe";
  const auto confine = [&] { opening.limits.confinement = shared.confinement(); };
  OpenTarget out;
  if (!options.optimizer.empty()) {
    out.optimizer = builtin_optimizer(options.optimizer);
    if (out.optimizer) return out;
    if (auto s = known_builtin(options.optimizer, BuiltinKind::kOptimizer, "--optimizer"); !s)
      return s.error();
    confine();
    auto opened = open_optimizer(options.optimizer, opening);
    if (!opened) return opened.error();
    out.optimizer = std::move(*opened);
  } else if (!options.compiler.empty()) {
    out.compiler = builtin_compiler(options.compiler);
    if (out.compiler) return out;
    if (auto s = known_builtin(options.compiler, BuiltinKind::kCompiler, "--compiler"); !s)
      return s.error();
    confine();
    auto opened = open_compiler(options.compiler, opening);
    if (!opened) return opened.error();
    out.compiler = std::move(*opened);
  } else if (!options.evaluator.empty()) {
    if (options.evaluator == "kernel")
      if (auto s = kernel::available(); !s) return s.error();
    out.evaluator = builtin_evaluator(options.evaluator);
    if (out.evaluator) return out;
    if (auto s = known_builtin(options.evaluator, BuiltinKind::kEvaluator, "--evaluator"); !s)
      return s.error();
    confine();
    auto opened = open_evaluator(options.evaluator, opening);
    if (!opened) return opened.error();
    out.evaluator = std::move(*opened);
  }
  return out;
}

std::string target_list() {
  std::string out;
  for (const auto& [kind, name] : {std::pair(BuiltinKind::kOptimizer, "optimizer"),
                                   std::pair(BuiltinKind::kCompiler, "compiler"),
                                   std::pair(BuiltinKind::kEvaluator, "evaluator")})
    for (const std::string& builtin : builtin_names(kind))
      out += fmt::format("{:<9} {}\n", name, builtin);
  return out;
}

}  // namespace secequiv::cli
