// `patch`: a precompiled filter with values for its variables.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cli/common.h"
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

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

Result<Values> values_of(const std::vector<std::string>& settings) {
  Values out;
  for (const std::string& text : settings) {
    // A name may hold any character, a value has no '='.
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      return make_error(ErrorCode::kUsage, "--set",
                        fmt::format("expected NAME=VALUE, found '{}'", text));
    const auto value = parse_unsigned(std::string_view(text).substr(equals + 1));
    if (!value || *value > 0xffffffff)
      return make_error(
          ErrorCode::kUsage, "--set",
          fmt::format(
              "expected NAME=VALUE with a value from 0 to 2^32-1, decimal or 0x, found '{}'",
              text));
    out.emplace_back(text.substr(0, equals), static_cast<std::uint32_t>(*value));
  }
  return out;
}

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
  auto values = values_of(job.set);
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
  CLI::App* sub = app.add_subcommand("patch",
                                     "The program of a precompiled filter, with values for its "
                                     "variables");
  auto job = std::make_shared<PatchJob>();
  sub->add_option("file", job->input, "What `precompile` wrote; - for standard input")->required();
  sub->add_option("--set", job->set,
                  "NAME=VALUE: the value of a variable, decimal or 0x; repeatable, once for each")
      ->allow_extra_args(false);
  sub->add_flag("--defaults", job->defaults, "Variables not set have the policy's own values");
  sub->add_flag("--plain", job->plain, "No comments in text output");
  job->options.add_output(*sub, "raw");
  sub->callback([job, &context] { context.status = patch_file(*job); });
}

}  // namespace secequiv::cli
