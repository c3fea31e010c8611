#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/colour.h"
#include "cli/progress.h"
#include "cli/report_files.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/insn.h"
#include "harness/report/json.h"

namespace secequiv::cli {

void warn(std::string_view text) {
  hide_status();
  fmt::print(stderr, "secequiv: {}\n", printable(text, false));
}

void note_length(const std::string& name, ProgramView program) {
  if (program.size() > kMaxInsns)
    warn(fmt::format("note: {} has {} instructions and is not installable", name, program.size()));
}

Status keep_json_alone(const Options& options, const char* option, const std::string& path) {
  if (options.json && path == "-")
    return make_error(ErrorCode::kUsage, option,
                      "with --json the report goes to standard output; name a file");
  return Ok{};
}

int print(std::string_view text, int status) {
  end_status();
  const Status written = write_file("-", text);
  if (written) return status;
  fmt::print(stderr, "secequiv: {}\n", written.error().text());
  return exit_code(written.error().code);
}

int print_verdict(std::string_view text, int status, const Options& options) {
  if (options.json) return print(text, status);
  if (options.quiet && status == 0) return 0;
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t last = end == text.npos ? 0 : text.rfind('\n', end) + 1;
  if (options.quiet) text = text.substr(last);
  return print(coloured(text, options.quiet ? 0 : last, status), status);
}

int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also) {
  const int status = print_verdict(text, found.exit_status, options);
  int failed = 0;
  for (const Status& written : {write_report_files(found, options), also}) {
    if (written) continue;
    fmt::print(stderr, "secequiv: {}\n", written.error().text());
    failed = exit_code(written.error().code);
  }
  return status == 0 ? failed : status;
}

int report(const Error& error, const Options& options) {
  end_status();
  fmt::print(stderr, "secequiv: {}\n", error.text());
  if (::isatty(STDERR_FILENO) == 1)
    fmt::print(stderr, "hint: secequiv --explain {}\n", error_name(error.code));
  if (options.json) print(render(to_json(error)));
  const int status = exit_code(error.code);
  if (auto s = write_report_files(reported(error, options.command, status), options); !s)
    fmt::print(stderr, "secequiv: {}\n", s.error().text());
  return status;
}

}  // namespace secequiv::cli
