#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/colour.h"
#include "cli/layout.h"
#include "cli/progress.h"
#include "cli/report_files.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/insn.h"
#include "harness/report/json.h"

namespace secequiv::cli {

namespace {

// Returns the option by which the user made this choice.
const char* option_about(Subject subject) {
  switch (subject) {
    case Subject::kNone:
      break;
    case Subject::kArch:
      return "--arch";
    case Subject::kAssumption:
      return "--assume";
    case Subject::kCertificate:
      return "--certificate";
    case Subject::kFilter:
      return "--filter";
    case Subject::kKernelVersion:
      return "--kernel-version";
    case Subject::kLastPass:
      return "--stop-after";
    case Subject::kPasses:
      return "--passes";
    case Subject::kProfile:
      return "--profile";
    case Subject::kRealCalls:
      return "--real";
    case Subject::kRule:
      return "--rule";
  }
  return nullptr;
}

}  // namespace

void print_note(std::string_view text) {
  hide_status();
  fmt::print(stderr, "{}", fitted(printable(text, true), columns_of(STDERR_FILENO)));
}

void warn(std::string_view text) {
  print_note(fmt::format("secequiv: {}\n", printable(text, false)));
}

void print_error(const Error& error) { print_note(fmt::format("secequiv: {}\n", error.text())); }

void note_length(const std::string& name, ProgramView program) {
  if (program.size() > kMaxInsns)
    warn(
        fmt::format("note: {} has {} instructions, more than the {} that the kernel accepts; "
                    "secequiv examines it all the same",
                    name, program.size(), kMaxInsns));
}

Status keep_json_alone(const Options& options, const char* option, const std::string& path) {
  if (options.json && path == "-")
    return make_error(ErrorCode::kUsage, option,
                      "expected a file, because the JSON report goes to standard output");
  return Ok{};
}

Status may_be_written(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0 ||
      ::access(path.c_str(), W_OK) == 0)
    return Ok{};
  return make_error(ErrorCode::kIo, path,
                    fmt::format("cannot be written: {}", std::strerror(errno)));
}

int print_bytes(std::string_view bytes, int status) {
  end_status();
  const Status written = write_file("-", bytes);
  if (written) return status;
  print_error(written.error());
  return exit_code(written.error().code);
}

Result<int> write_output(std::string_view text, const Options& options) {
  if (auto s = write_file(options.output, text); !s) return s.error();
  return 0;
}

int print(std::string_view text, int status) {
  return print_bytes(fitted(printable(text, true), columns_of(STDOUT_FILENO)), status);
}

int print_json(const nlohmann::ordered_json& value, int status) {
  return print_bytes(printable(render(value), true), status);
}

int write_drawing(int status, const std::string& path, std::string_view svg) {
  const Status written = write_file(path, svg);
  if (written) return status;
  print_error(written.error());
  return exit_code(written.error().code);
}

int print_verdict(std::string_view text, int status, const Options& options) {
  if (options.json) return print_bytes(printable(text, true), status);
  if (options.quiet && status == 0) return 0;
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t last = end == text.npos ? 0 : text.rfind('\n', end) + 1;
  const std::size_t columns = columns_of(STDOUT_FILENO);
  const std::string before =
      options.quiet ? "" : fitted(printable(text.substr(0, last), true), columns);
  const std::string verdict = fitted(printable(text.substr(last), true), columns);
  return print_bytes(coloured(before + verdict, before.size(), status), status);
}

int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also) {
  // Even with --quiet, the output begins with what became more permissive.
  if (options.quiet && !options.json && !found.direction.empty() && found.exit_status != 0)
    print(found.direction + "\n");
  const int status = print_verdict(text, found.exit_status, options);
  int failed = 0;
  for (const Status& written : {write_report_files(found, options), also}) {
    if (written) continue;
    print_error(written.error());
    failed = exit_code(written.error().code);
  }
  return status == 0 ? failed : status;
}

Error named(Error error) {
  if (const char* option = option_about(error.subject)) error.where = option;
  return error;
}

int report(const Error& found, const Options& options) {
  const Error error = named(found);
  end_status();
  print_error(error);
  if (::isatty(STDERR_FILENO) == 1)
    print_note(fmt::format("hint: secequiv --explain {}\n", error_name(error.code)));
  if (options.json) print_json(to_json(error));
  const int status = exit_code(error.code);
  if (auto s = write_report_files(reported(error, options.command, status), options); !s)
    print_error(s.error());
  return status;
}

}  // namespace secequiv::cli
