// `asm` and `dis`: convert between program forms; only their defaults differ.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/reading.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::cli {
namespace {

struct Conversion {
  Options options;
  std::string input = "-";
  bool plain = false;
  const Option* arch = nullptr;
};

Result<int> convert(const Conversion& job) {
  if (job.options.tree && job.options.libseccomp == "none")
    return make_error(ErrorCode::kUsage, "--tree",
                      "expected a library in --libseccomp, found 'none'");
  ASSIGN_OR_RETURN(auto source, load_source(job.input, reading(job.options)));
  if (source.policy && source.program.size() > kMaxInsns)
    job.options.note(
        fmt::format("note: the unoptimized compilation has {} instructions, more than the {} that "
                    "the kernel accepts; `secequiv optimize` makes a shorter program",
                    source.program.size(), kMaxInsns));
  // Names system calls in comments only if the user gave the architecture, because the default may
  // be wrong.
  const auto arch = job.arch->given() ? std::optional(job.options.oci().arch) : std::nullopt;
  const auto comments = job.plain ? std::vector<std::string>() : annotate(source.program, arch);
  return write_output(write_program(source.program, *form_from_name(job.options.to), comments),
                      job.options);
}

void add_conversion(Commands& all, const char* name, const char* text, const char* default_form) {
  const auto [sub, job] = add_command(all, name, text, convert);
  sub->add_option(
         "input", job->input,
         "Program in any form, or a policy (compiled, not optimized); - for standard input")
      ->shows_default();
  job->options.add(*sub, {kInput, kImport});
  sub->add_flag("--tree", job->options.tree,
                "Let --libseccomp search numbers in a tree (SCMP_FLTATR_CTL_OPTIMIZE)")
      ->needs("--libseccomp");
  job->arch = sub->get_option("--arch");
  job->options.add_form(*sub, default_form);
  job->options.add_output(*sub);
  sub->add_flag("--plain", job->plain, "Write no comments in text output");
}

}  // namespace

void add_asm(Commands& all) {
  add_conversion(all, "asm", "Assemble: convert a program to raw bytes or another form", "raw");
}

void add_dis(Commands& all) {
  add_conversion(all, "dis",
                 "Disassemble: show a program as commented bpf_asm text or another form", "asm");
}

}  // namespace secequiv::cli
