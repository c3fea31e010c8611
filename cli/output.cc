#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/errors.h"
#include "cli/report_files.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/terminal/colour.h"
#include "harness/terminal/layout.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

terminal::Meaning meaning_of(int status) {
  if (status == exit_code(Verdict::kUnknown)) return terminal::Meaning::kOpen;
  return status == 0 ? terminal::Meaning::kGood : terminal::Meaning::kBad;
}

terminal::Meaning meaning_of(Effect effect) {
  if (effect == Effect::kChanged) return terminal::Meaning::kOpen;
  return effect == Effect::kClosed ? terminal::Meaning::kGood : terminal::Meaning::kBad;
}

// Prints the error of a failed write. Returns its status, or `status` if there is none.
int after_writing(int status, const Status& written) {
  if (written) return status;
  print_error(written.error());
  return exit_code(written.error().code);
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

void print_notes(const Options& options) {
  const auto& notes = *options.notes;
  for (auto note = notes.begin(); note != notes.end(); ++note) {
    const bool repeated = std::find(notes.begin(), note, *note) != note;
    if (!repeated && (!options.quiet || note->warning))
      warn((note->warning ? "warning: " : "") + note->text);
  }
}

Status keep_json_alone(const Options& options, const char* option, const std::string& path) {
  if (options.json && path == "-")
    return make_error(ErrorCode::kUsage, option,
                      "expected a file, because the JSON report goes to standard output");
  return Ok{};
}

int print_bytes(std::string_view bytes, int status) {
  terminal::end_status();
  return after_writing(status, write_file("-", bytes));
}

Result<int> write_output(std::string_view text, const Options& options) {
  RETURN_IF_ERROR(write_file(options.output, text));
  int status = 0;
  for (Options::Note& note : *options.notes) {
    if (!note.open) continue;
    note.warning = true;
    status = exit_code(Verdict::kUnknown);
  }
  return status;
}

int print(std::string_view text, int status) {
  return print_bytes(terminal::fitted(printable(text, true), terminal::columns_of(STDOUT_FILENO)),
                     status);
}

int print_json(const nlohmann::ordered_json& value, int status) {
  return print_bytes(printable(render(value), true), status);
}

int write_drawing(int status, const std::string& path, std::string_view svg) {
  return after_writing(status, write_file(path, svg));
}

int print_verdict(std::string_view text, int status, const Options& options, VerdictLine line) {
  if (options.json) return print_bytes(printable(text, true), status);
  if (options.quiet && status == 0) return 0;
  const std::size_t end = text.find_last_not_of('\n');
  const bool last = line == VerdictLine::kLast && end != text.npos;
  const std::size_t from = last ? text.rfind('\n', end) + 1 : 0;
  const std::size_t to = last ? text.size() : std::min(text.find('\n'), text.size() - 1) + 1;
  const auto shown = [&](std::string_view part) {
    return terminal::fitted(printable(part, true), terminal::columns_of(STDOUT_FILENO));
  };
  const std::string before = options.quiet ? "" : shown(text.substr(0, from));
  const std::string verdict = before + shown(text.substr(from, to - from));
  const std::string after = options.quiet ? "" : shown(text.substr(to));
  const terminal::Meaning meaning = meaning_of(status);
  return print_bytes(terminal::coloured(verdict, before.size(), meaning) +
                         terminal::coloured(after, after.size(), meaning),
                     status);
}

namespace {

void print_direction(std::string_view line, Effect effect) {
  const std::string shown =
      terminal::fitted(printable(line, true), terminal::columns_of(STDOUT_FILENO));
  print_bytes(terminal::coloured(shown, 0, meaning_of(effect)), 0);
}

}  // namespace

int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also, VerdictLine line) {
  // Writes files before the answer, because a reader that closes the pipe ends this process.
  const Status files = write_report_files(found, options);
  // Even with --quiet, the output begins with what became more permissive.
  const std::string direction = found.direction + "\n";
  const bool first = text.starts_with(direction);
  if (!options.json && !found.direction.empty() &&
      (options.quiet ? found.exit_status != 0 : first)) {
    print_direction(direction, found.effect);
    if (first) text.remove_prefix(direction.size());
  }
  const int status = print_verdict(text, found.exit_status, options, line);
  if (!options.quiet && !options.json && !found.holds_for.empty()) print(found.holds_for + "\n");
  const int written = after_writing(0, files);
  const int also_written = after_writing(written, also);
  return also_written != 0 ? also_written : status;
}

}  // namespace secequiv::cli
