#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "cli/report_files.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/terminal/colour.h"
#include "harness/terminal/layout.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {

namespace {

// The options by which users make these choices.
constexpr std::array kOptions = std::to_array<std::pair<Subject, const char*>>({
    {Subject::kArch, "--arch"},
    {Subject::kAssumption, "--assume"},
    {Subject::kCallArch, "--call-arch"},
    {Subject::kCallArgument, "--arg"},
    {Subject::kCallNumber, "--nr"},
    {Subject::kCallPointer, "--ip"},
    {Subject::kCallWords, "--words"},
    {Subject::kCertificate, "--certificate"},
    {Subject::kFilter, "--filter"},
    {Subject::kKernelVersion, "--kernel-version"},
    {Subject::kLastPass, "--stop-after"},
    {Subject::kNameValues, "--set"},
    {Subject::kPasses, "--passes"},
    {Subject::kPolicies, "--policies"},
    {Subject::kProfile, "--profile"},
    {Subject::kPrograms, "--programs"},
    {Subject::kRealCalls, "--real"},
    {Subject::kRule, "--rule"},
});

terminal::Meaning meaning_of(int status) {
  if (status == exit_code(Verdict::kUnknown)) return terminal::Meaning::kOpen;
  return status == 0 ? terminal::Meaning::kGood : terminal::Meaning::kBad;
}

}  // namespace

void print_note(std::string_view text) {
  terminal::hide_status();
  fmt::print(stderr, "{}",
             terminal::fitted(printable(text, true), terminal::columns_of(STDERR_FILENO)));
}

void warn(std::string_view text) {
  print_note(fmt::format("secequiv: {}\n", printable(text, false)));
}

void print_error(const Error& error) { print_note(fmt::format("secequiv: {}\n", error.text())); }

Status keep_json_alone(const Options& options, const char* option, const std::string& path) {
  if (options.json && path == "-")
    return make_error(ErrorCode::kUsage, option,
                      "expected a file, because the JSON report goes to standard output");
  return Ok{};
}

int print_bytes(std::string_view bytes, int status) {
  terminal::end_status();
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
  return print_bytes(terminal::fitted(printable(text, true), terminal::columns_of(STDOUT_FILENO)),
                     status);
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
  const std::size_t columns = terminal::columns_of(STDOUT_FILENO);
  const std::string before =
      options.quiet ? "" : terminal::fitted(printable(text.substr(0, last), true), columns);
  const std::string verdict = terminal::fitted(printable(text.substr(last), true), columns);
  return print_bytes(terminal::coloured(before + verdict, before.size(), meaning_of(status)),
                     status);
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
  for (const auto& [subject, option] : kOptions)
    if (error.subject == subject) error.where = option;
  return error;
}

int report(const Error& found, const Options& options) {
  const Error error = named(found);
  terminal::end_status();
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
