#include "cli/call_options.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/output.h"
#include "cli/reading.h"
#include "harness/base/shell.h"
#include "harness/seccomp/audit_record.h"

namespace secequiv::cli {

Result<SeccompData> CallOptions::from_record(const Options& options) {
  std::string text = record;
  if (record == "-") {
    ASSIGN_OR_RETURN(auto input, read_input(record, warn));
    text = std::move(input);
  }
  auto found = read_audit_record(text, "--audit");
  if (std::error_code ignored; !found && record != "-" && std::filesystem::exists(record, ignored))
    return make_error(ErrorCode::kUsage, "--audit",
                      fmt::format("expected a line of the audit log with type=SECCOMP, found the "
                                  "name of a file; to read the file, use --audit - < {}",
                                  shell_quoted(record)));
  if (!found) return found.error();
  constexpr std::string_view kRecord = "type=SECCOMP";
  if (text.find(kRecord) != text.rfind(kRecord))
    options.note("note: --audit reads only the first SECCOMP record of its input");
  recorded_ = found->action;
  return found->data;
}

Result<SeccompData> CallOptions::read(Options& options) {
  fields = with_arch(std::move(fields));
  auto data = record.empty() ? read_call(fields, options.arch) : from_record(options);
  const bool of_host = fields.arch.empty() && fields.words.empty() && record.empty();
  if (!data || (host_->given() && !of_host)) return data;
  // The default host can make 32-bit calls, so such a call does not change the host for which
  // profiles are read.
  const Arch host = options.oci().arch;
  const Arch called = arch_from_data(data->arch(), 0).value_or(host);
  if (called != compat_arch(host)) options.arch = arch_info(called).name;
  return data;
}

void CallOptions::add(Command& command, Options& options) {
  number_ =
      command.add_option("--nr", fields.nr, "Set the system call: a number, NAME or ARCH:NAME")
          ->shows_default();
  command.add_option("--call-arch", fields.arch,
                     "Set the architecture, as a name or AUDIT_ARCH value");
  command.add_option("--ip", fields.ip, "Set the instruction pointer")->shows_default();
  command.add_option(
      "--arg", fields.args,
      "Set an argument, as INDEX=VALUE with numbers or names joined by |; repeatable");
  command
      .add_option("--words", fields.words,
                  "Set all sixteen 32-bit words of struct seccomp_data, separated by commas")
      ->delimiter(',')
      ->excludes({"--nr", "--call-arch", "--ip", "--arg"});
  command
      .add_option("--audit", record,
                  "Read the call from this audit log line (type=SECCOMP), - for standard input")
      ->excludes({"--nr", "--call-arch", "--ip", "--arg", "--words"});
  options.add(command, {kImport});
  host_ = command.get_option("--arch");
}

bool CallOptions::given() const {
  return number_->given() || !fields.words.empty() || !record.empty();
}

}  // namespace secequiv::cli
