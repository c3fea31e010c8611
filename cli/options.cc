#include "cli/options.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/values.h"
#include "harness/report/formats.h"

namespace secequiv::cli {

void Options::add_input(Command& command) {
  command.add_option("--from", from, "Read programs in this form (default: detected by content)")
      ->check(form());
  command.add_flag("--big-endian", big_endian, "Read raw programs as big endian");
  command
      .add_option("--set", set,
                  "Replace a name ('#$NAME') in asm input with a number, as NAME=VALUE; repeatable")
      ->one_at_a_time();
}

void Options::add_form(Command& command, const char* default_form) {
  to = default_form;
  command.add_option("--to", to, "Write the program in this form")->check(form())->shows_default();
}

void Options::add_output(Command& command) {
  command.add_option("-o,--output", output, "Write to this file, - for standard output")
      ->writes(Writes::kFile)
      ->shows_default();
}

void Options::add_reports(Command& command, bool page) {
  const auto file = [](const std::string& path) {
    return path == "-"
               ? std::string(
                     "expected a file, found '-': another report already goes to standard output")
               : std::string();
  };
  for (const ReportFormat& format : report_formats())
    command
        .add_option(fmt::format("--{}", format.name), reports[format.name],
                    fmt::format("Also report to this file as {}", format.purpose))
        ->writes(Writes::kFile)
        ->check(file);
  if (page)
    command.add_option("--html", html, "Also report to this file as a self-contained HTML page")
        ->writes(Writes::kFile)
        ->check(file);
}

void Options::add_limits(Command& command) {
  constexpr const char* kText = "Limit all work, or each proof of a loop, to this many {}";
  command.add_option("--timeout", timeout, fmt::format(kText, "seconds"))
      ->check(seconds())
      ->shows_default();
  add_number(command, "--max-memory", max_memory, 1, 1 << 20, fmt::format(kText, "MiB"));
}

void Options::add(Command& command, std::initializer_list<Shared> groups) {
  declared_by = &command;
  for (const Shared group : groups) switch (group) {
      case kInput:
        add_input(command);
        break;
      case kJson:
        command.add_flag("--json", json, "Report as JSON on standard output");
        break;
      case kReports:
      case kPage:
        add_reports(command, group == kPage);
        break;
      case kLimits:
      case kProofLimits:
        limited = group == kLimits;
        add_limits(command);
        break;
      case kSame:
        command
            .add_option(
                "--same", same,
                "Compare all bits of return values (raw), or only their effects on a process")
            ->check(one_of({"raw", "behaviour", "effect"}))
            ->shows_default();
        break;
      case kWhole:
        command.add_flag("--require-whole", require_whole,
                         "Answer 'unknown' if parts of the profiles were not compared");
        break;
      case kImport:
        add_import(command);
        break;
      case kSandbox:
        command.add_flag("--no-sandbox", no_sandbox,
                         "Let commands and plugins under test keep network access and privileges");
        break;
      case kQuiet:
        command.add_flag("--quiet", quiet,
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
