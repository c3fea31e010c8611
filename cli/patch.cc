// `patch`: a precompiled filter with values for its variables.
#include <fmt/format.h>

#include <algorithm>

#include "cli/common.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/optimize/precompiled_file.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::cli {
namespace {

struct PatchJob {
  Options options;
  std::string input;
  std::vector<std::string> set;
  bool defaults = false;
  bool plain = false;
};

// Refuses to leave a variable as it is, which would go unnoticed.
Status all_set(const Precompiled& precompiled, const Values& values) {
  std::vector<std::string> missing;
  for (const Precompiled::Variable& v : precompiled.variables)
    if (std::ranges::find(values, v.name, &Values::value_type::first) == values.end())
      missing.push_back(fmt::format("{} ({:#x})", v.name, v.value));
  if (missing.empty()) return Ok{};
  return make_error(
      ErrorCode::kUsage, "--set",
      fmt::format("no value for {}; --defaults takes the policy's own", fmt::join(missing, ", ")));
}

int patch_file(const PatchJob& job) {
  auto values = parse_settings(job.set);
  if (!values) return report(values.error(), job.options);
  auto text = read_input(job.input);
  if (!text) return report(text.error(), job.options);
  const auto precompiled = read_precompiled(*text, shown_name(job.input));
  if (!precompiled) return report(precompiled.error(), job.options);
  auto program = patch(*precompiled, *values);
  if (!program) {
    program.error().where = "--set " + program.error().where;
    return report(program.error(), job.options);
  }
  if (!job.defaults)
    if (auto s = all_set(*precompiled, *values); !s) return report(s.error(), job.options);
  const auto comments = job.plain ? std::vector<std::string>() : annotate(*program);
  const Status written = write_file(
      job.options.output, write_program(*program, *form_from_name(job.options.to), comments));
  return written ? 0 : report(written.error(), job.options);
}

}  // namespace

void add_patch(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("patch", "Fill in the variables of a precompiled filter");
  auto job = std::make_shared<PatchJob>();
  sub->add_option("file", job->input, "What `precompile` wrote; - for standard input")->required();
  sub->add_option("--set", job->set,
                  "Give a number to a name in the input, as NAME=VALUE; repeatable")
      ->allow_extra_args(false);
  sub->add_flag("--defaults", job->defaults,
                "Use the policy's own values for variables that are not set");
  sub->add_flag("--plain", job->plain, "Write no comments in text output");
  job->options.add_output(*sub, "raw");
  sub->callback([job, &context] { context.status = patch_file(*job); });
}

}  // namespace secequiv::cli
