// `import`: other projects' policy formats as our JSON.
#include <fmt/format.h>

#include "harness/base/file.h"
#include "harness/cli/common.h"
#include "harness/policy/json.h"

namespace secequiv::cli {
namespace {

struct ImportJob {
  Options options;
  std::string input = "-";
  std::string format = "oci";
};

int import_policy(const ImportJob& job) {
  auto text = read_input(job.input);
  if (!text) return report(text.error(), job.options);
  auto imported = import_oci(*text, shown_name(job.input), job.options.oci());
  if (!imported) return report(imported.error(), job.options);
  for (const std::string& note : imported->skipped) warn("skipped " + note);
  const Status written = write_file(job.options.output, write_policy(imported->policy));
  return written ? 0 : report(written.error(), job.options);
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "import", "Convert an OCI seccomp profile (Docker, Podman, containerd) to our policy JSON");
  auto job = std::make_shared<ImportJob>();
  sub->add_option("input", job->input, "Profile; - for standard input")->capture_default_str();
  sub->add_option("--format", job->format, "Format of the input")
      ->check(one_of({"oci"}))
      ->capture_default_str();
  sub->add_option("-o,--output", job->options.output, "Output file, - for standard output")
      ->capture_default_str();
  job->options.add_import(*sub);
  sub->callback([job, &context] { context.status = import_policy(*job); });
}

}  // namespace secequiv::cli
