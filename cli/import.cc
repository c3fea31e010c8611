// `import`: converts other projects' policies to our JSON.
#include "cli/common.h"
#include "harness/base/file.h"
#include "harness/policy/json.h"
#include "harness/policy/resolved.h"

namespace secequiv::cli {
namespace {

struct ImportJob {
  Options options;
  std::string input = "-";
  std::string format;
  bool resolve = false;
};

int import(const ImportJob& job) {
  auto text = read_input(job.input);
  if (!text) return report(text.error(), job.options);
  const std::string name = shown_name(job.input);
  const auto imported =
      import_policy(*text, name, policy_format_from_name(job.format), job.options.import());
  if (!imported) return report(imported.error(), job.options);
  if (const auto fits = filter_fits(job.options.filter, imported->format, name); !fits)
    return report(fits.error(), job.options);
  for (const std::string& note : imported->notes) warn(note);
  const Policy& policy = imported->policy;
  const Status written =
      write_file(job.options.output, job.resolve ? write_resolved(policy) : write_policy(policy));
  return written ? 0 : report(written.error(), job.options);
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand("import", "Convert another project's policy to our JSON");
  auto job = std::make_shared<ImportJob>();
  sub->add_option("input", job->input, "Policy; - for standard input")->capture_default_str();
  sub->add_option("--format", job->format,
                  "Read the policy in this format (default: detected by content)")
      ->check(one_of(policy_format_names()));
  sub->add_flag("--resolve", job->resolve,
                "Write numbers in place of names, as compilers under test get policies");
  sub->add_option("-o,--output", job->options.output, "Write to this file, - for standard output")
      ->capture_default_str();
  job->options.add_import(*sub);
  sub->callback([job, &context] { context.status = import(*job); });
}

}  // namespace secequiv::cli
