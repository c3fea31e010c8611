#include "cli/target_options.h"

#include <fmt/format.h>

#include "adapters/builtin/builtin.h"
#include "cli/arguments.h"
#include "harness/adapter/open.h"
#include "harness/base/text.h"
#include "harness/kernel/oracle.h"

namespace secequiv::cli {
namespace {

// Opens what the user named, if anything. A name with the prefix of built-in names must be a
// built-in name. Any other text is a command.
template <class Builtin, class Open, class Target>
Status open_one(const std::string& name, const char* option, BuiltinKind kind, Builtin builtin,
                Open open, AdapterOptions opening, const Options& shared, Target& out,
                bool& external) {
  if (name.empty()) return Ok{};
  out = builtin(name);
  if (out) return Ok{};
  if (name.starts_with("broken:"))
    return make_error(
        ErrorCode::kUsage, option,
        fmt::format("unknown built-in name '{}'{}; `secequiv fuzz --list` lists all names", name,
                    did_you_mean(similar_names(name, builtin_names(kind)))));
  opening.limits.confinement = shared.confinement();
  auto opened = open(name, opening);
  if (!opened) return opened.error();
  out = std::move(*opened);
  external = true;
  return Ok{};
}

}  // namespace

void TargetOptions::add(Command& command, bool evaluators) {
  const char* const kGroup = "Under test";
  command
      .add_option("--optimizer", optimizer,
                  "Test this optimizer: a command, serve:COMMAND, plugin:FILE.so or a built-in")
      ->group(kGroup);
  command
      .add_option("--compiler", compiler,
                  "Use this compiler of policies (notation as for --optimizer)")
      ->group(kGroup);
  if (evaluators)
    command
        .add_option("--evaluator", evaluator, "Test this interpreter (notation as for --optimizer)")
        ->group(kGroup);
  command.add_option("--form", form, "Pass programs to commands under test in this form")
      ->check(cli::form())
      ->shows_default()
      ->group(kGroup);
  command
      .add_option("--request-timeout", seconds, "Treat a request as hung after this many seconds")
      ->check(cli::seconds())
      ->shows_default()
      ->group(kGroup);
  add_number(command, "--request-memory", memory, 0, 1 << 20,
             "Limit the memory of code under test to this many MiB, 0 for no limit")
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
                      "expected only one of --optimizer, --compiler and --evaluator");
  if (options.evaluator == "kernel") RETURN_IF_ERROR(kernel::available());
  AdapterOptions opening;
  opening.limits.seconds = options.seconds;
  opening.limits.memory_bytes = options.memory << 20;
  opening.form = form_from_name(options.form).value_or(Form::kRaw);
  opening.plugin_host = "/proc/self/exe";
  opening.at_once = options.at_once;
  OpenTarget out;
  opening.limits.shorter = out.shorter;
  Status done =
      open_one(options.optimizer, "--optimizer", BuiltinKind::kOptimizer, builtin_optimizer,
               open_optimizer, opening, shared, out.optimizer, out.external);
  if (done)
    done = open_one(options.compiler, "--compiler", BuiltinKind::kCompiler, builtin_compiler,
                    open_compiler, opening, shared, out.compiler, out.external);
  if (done)
    done = open_one(options.evaluator, "--evaluator", BuiltinKind::kEvaluator, builtin_evaluator,
                    open_evaluator, opening, shared, out.evaluator, out.external);
  if (!done) return done.error();
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
