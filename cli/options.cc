#include "cli/options.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/values.h"
#include "harness/report/formats.h"

namespace secequiv::cli {

void Options::add_input(CLI::App& app) {
  app.add_option("--from", from, "Read programs in this form (default: detected by content)")
      ->check(form());
  app.add_flag("--big-endian", big_endian, "Read raw programs as big endian");
  app.add_option("--set", set,
                 "Replace a name ('#$NAME') in asm input with a number, as NAME=VALUE; repeatable")
      ->allow_extra_args(false);
}

void Options::add_form(CLI::App& app, const char* default_form) {
  to = default_form;
  app.add_option("--to", to, "Write the program in this form")
      ->check(form())
      ->capture_default_str();
}

void Options::add_output(CLI::App& app) {
  app.add_option("-o,--output", output, "Write to this file, - for standard output")
      ->capture_default_str();
}

void Options::add_reports(CLI::App& app, bool page) {
  command = app.get_name();
  declared_by = &app;
  const auto file = [](const std::string& path) {
    return path == "-"
               ? std::string(
                     "expected a file, found '-': another report already goes to standard output")
               : std::string();
  };
  for (const ReportFormat& format : report_formats())
    app.add_option(fmt::format("--{}", format.name), reports[format.name],
                   fmt::format("Also report to this file as {}", format.purpose))
        ->check(file);
  if (page)
    app.add_option("--html", html, "Also report to this file as a self-contained HTML page")
        ->check(file);
}

void Options::add_limits(CLI::App& app) {
  const char* const what = limited ? "Limit all work on the inputs" : "Limit each proof";
  app.add_option("--timeout", timeout, fmt::format("{} to this many seconds", what))
      ->check(seconds())
      ->capture_default_str();
  add_number(app, "--max-memory", max_memory, 1, 1 << 20, fmt::format("{} to this many MiB", what));
}

void Options::add(CLI::App& app, std::initializer_list<Shared> groups) {
  command_line = &app;
  for (const Shared group : groups) switch (group) {
      case kInput:
        add_input(app);
        break;
      case kJson:
        app.add_flag("--json", json, "Report as JSON on standard output");
        break;
      case kReports:
      case kPage:
        add_reports(app, group == kPage);
        break;
      case kLimits:
      case kProofLimits:
        limited = group == kLimits;
        add_limits(app);
        break;
      case kSame:
        app.add_option(
               "--same", same,
               "Compare all bits of return values (raw), or only their effects on a process")
            ->check(one_of({"raw", "behaviour", "effect"}))
            ->capture_default_str();
        break;
      case kWhole:
        app.add_flag("--require-whole", require_whole,
                     "Answer 'unknown' if parts of the profiles were not compared");
        break;
      case kImport:
        add_import(app);
        break;
      case kSandbox:
        app.add_flag("--no-sandbox", no_sandbox,
                     "Let commands and plugins under test keep network access and privileges");
        break;
      case kQuiet:
        app.add_flag("--quiet", quiet,
                     "Print only the direction and the verdict, or nothing after a pass");
        break;
    }
}

std::shared_ptr<const Confinement> Options::confinement() const {
  if (no_sandbox) return nullptr;
  static const auto made = [] {
    auto confinement = Confinement::make();
    for (const std::string& lack : confinement->lacking()) warn("warning: " + lack);
    return confinement;
  }();
  return made;
}

Status Options::no_effect() const {
  if (sameness() != Sameness::kEffect) return Ok{};
  return make_error(ErrorCode::kUsage, "--same",
                    "this command compares single inputs; expected raw or behaviour, found effect");
}

std::optional<Form> Options::input_form() const {
  if (!from.empty()) return form_from_name(from);
  return std::nullopt;
}

}  // namespace secequiv::cli
