// `import`: converts policies to our JSON and other forms.
#include "cli/command.h"
#include "cli/output.h"
#include "cli/policy_form_option.h"
#include "cli/reading.h"
#include "harness/base/file.h"

namespace secequiv::cli {
namespace {

struct ImportJob {
  Options options;
  std::string input = "-";
  std::string format;
  PolicyFormOption form;
};

Result<int> import(const ImportJob& job) {
  auto text = read_input(job.input, warn);
  if (!text) return text.error();
  const std::string name = shown_name(job.input);
  Reading how = reading(job.options);
  how.policy_format = policy_format_from_name(job.format);
  const auto imported = parse_import(*text, name, how);
  if (!imported) return imported.error();
  if (const auto fits = filter_fits(job.options.filter, imported->format, name); !fits)
    return fits.error();
  if (const auto names = check_names(*imported, how); !names) return names.error();
  const auto written = job.form.write(imported->policy, name, job.options, imported->parts);
  if (!written) return written.error();
  return write_output(*written, job.options);
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  const auto [sub, job] = add_command(app, context, "import",
                                      "Convert a policy to our JSON or to another form", import);
  sub->add_option("input", job->input, "Policy; - for standard input")->capture_default_str();
  sub->add_option("--format", job->format,
                  "Read the policy in this format (default: detected by content)")
      ->check(one_of(policy_format_names()));
  job->form.add(*sub);
  job->form.add_allow_loss(*sub);
  job->options.add_output(*sub);
  job->options.add(*sub, {kLimits, kImport});
}

}  // namespace secequiv::cli
