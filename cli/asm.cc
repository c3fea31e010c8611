// `asm` and `dis`: one conversion between program forms, with different defaults.
#include "cli/common.h"
#include "harness/base/file.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::cli {
namespace {

struct Conversion {
  Options options;
  std::string input = "-";
  bool plain = false;
};

int convert(const Conversion& job) {
  auto source = load_source(job.input, job.options);
  if (!source) return report(source.error(), job.options);
  const auto comments = job.plain ? std::vector<std::string>() : annotate(source->program);
  const Status written =
      write_file(job.options.output,
                 write_program(source->program, *form_from_name(job.options.to), comments));
  return written ? 0 : report(written.error(), job.options);
}

void add_conversion(CLI::App& app, Context& context, const char* name, const char* text,
                    const char* default_form) {
  CLI::App* sub = app.add_subcommand(name, text);
  auto job = std::make_shared<Conversion>();
  sub->add_option(
         "input", job->input,
         "Program in any form, or a policy (compiled, not optimized); - for standard input")
      ->capture_default_str();
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_output(*sub, default_form);
  sub->add_flag("--plain", job->plain, "Write no comments in text output");
  sub->callback([job, &context] { context.status = convert(*job); });
}

}  // namespace

void add_asm(CLI::App& app, Context& context) {
  add_conversion(app, context, "asm", "Assemble: convert a program to raw bytes or another form",
                 "raw");
}

void add_dis(CLI::App& app, Context& context) {
  add_conversion(app, context, "dis",
                 "Disassemble: show a program as commented bpf_asm text or another form", "asm");
}

}  // namespace secequiv::cli
