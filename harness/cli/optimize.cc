// `optimize`: the built-in optimizer, pass by pass.
#include <fmt/format.h>

#include "harness/base/file.h"
#include "harness/cli/common.h"
#include "harness/optimize/optimizer.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::cli {
namespace {

struct OptimizeJob {
  Options options;
  std::string input = "-";
  std::vector<std::string> passes;
  bool explain = false;
  bool list = false;
  bool plain = false;
};

std::string pass_list() {
  std::string out;
  for (const Pass& pass : bytecode_passes()) out += fmt::format("{:<26} {}\n", pass.name, pass.law);
  return out;
}

int optimize_input(const OptimizeJob& job) {
  if (job.list) return print(pass_list());
  std::vector<const Pass*> passes;
  for (const std::string& name : job.passes) {
    const Pass* pass = find_pass(name);
    if (pass == nullptr)
      return report(make_error(ErrorCode::kUsage, "--passes",
                               fmt::format("unknown pass '{}'; --list shows them", name)),
                    job.options);
    passes.push_back(pass);
  }
  auto source = load_accepted(job.input, job.options);
  if (!source) return report(source.error(), job.options);
  const Optimized result =
      passes.empty() ? optimize(source->program) : optimize(source->program, passes);
  if (job.explain) {
    for (const PassStep& step : result.steps)
      if (step.changed)
        fmt::print(stderr, "round {} {:<26} {:>6} -> {}\n", step.round, step.pass, step.before,
                   step.after);
    fmt::print(stderr, "{} -> {} instructions{}\n", source->program.size(), result.program.size(),
               result.fixpoint ? "" : " (stopped before a fixpoint)");
  }
  note_length("the result", result.program);
  const auto comments = job.plain ? std::vector<std::string>() : annotate(result.program);
  const Status written = write_file(
      job.options.output, write_program(result.program, *form_from_name(job.options.to), comments));
  return written ? 0 : report(written.error(), job.options);
}

}  // namespace

void add_optimize(CLI::App& app, Context& context) {
  CLI::App* sub =
      app.add_subcommand("optimize", "Optimize a program with the built-in passes, to a fixpoint");
  auto job = std::make_shared<OptimizeJob>();
  sub->add_option("input", job->input, "Program in any form, or a policy; - for standard input")
      ->capture_default_str();
  sub->add_option("--passes", job->passes, "Only these passes, in this order (comma-separated)")
      ->delimiter(',');
  sub->add_flag("--list", job->list, "List the passes and their laws");
  sub->add_flag("--explain", job->explain, "Say on standard error what each pass changed");
  sub->add_flag("--plain", job->plain, "No comments in text output");
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_output(*sub, "asm");
  sub->callback([job, &context] { context.status = optimize_input(*job); });
}

}  // namespace secequiv::cli
