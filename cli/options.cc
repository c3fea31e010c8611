#include "cli/options.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "cli/outputs.h"
#include "harness/base/file.h"
#include "harness/import/capabilities.h"
#include "harness/report/formats.h"

namespace secequiv::cli {

void Options::add_input(CLI::App& app) {
  app.add_option("--from", from, "Read programs in this form (default: detected by content)")
      ->check(one_of({"raw", "raw-be", "asm", "ddd", "c"}));
  app.add_flag("--big-endian", big_endian, "Read raw programs as big endian");
  app.add_option("--set", set,
                 "Replace a name ('#$NAME') in asm input by a number, as NAME=VALUE; repeatable")
      ->allow_extra_args(false);
}

void Options::add_form(CLI::App& app, const char* default_form) {
  to = default_form;
  app.add_option("--to", to, "Write the program in this form")
      ->check(one_of({"raw", "raw-be", "asm", "ddd", "c"}))
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
                     "expected a file, found '-': the text report already goes to standard output")
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

void Options::add_import(CLI::App& app) {
  app.add_option("--arch", arch, "Use this architecture for policies and for __NR_ names in C")
      ->check(architecture())
      ->capture_default_str();
  add_profile(app);
}

void Options::add_profile(CLI::App& app) {
  app.add_option("--cap", capabilities,
                 "Read OCI profiles for a container with this capability (NET_RAW); repeatable")
      ->transform(CLI::Validator(
          [](std::string& name) {
            name = capability_name(name);
            return capability_problem(name);
          },
          ""));
  app.add_option("--kernel-version", kernel,
                 "Read OCI profiles for a host with this kernel version")
      ->check([](const std::string& version) { return kernel_version_problem(version); })
      ->capture_default_str();
  app.add_option("--filter", filter,
                 "Select the filter with this name from a seccompiler file with several filters");
  app.add_flag("--strict-names", strict_names,
               "Refuse system call names that no architecture has, instead of printing a warning");
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
      case kTimeout:
        app.add_option("--timeout", timeout, "Limit proofs and exact analyses to this many seconds")
            ->check(seconds())
            ->capture_default_str();
        break;
      case kSame:
        app.add_option(
               "--same", same,
               "Compare all 32 bits of return values (raw), or only what a process can observe")
            ->check(one_of({"raw", "behaviour"}))
            ->capture_default_str();
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
    for (const std::string& lack : confinement->lacking()) warn("note: " + lack);
    return confinement;
  }();
  return made;
}

std::optional<Form> Options::input_form() const {
  if (!from.empty()) return form_from_name(from);
  return std::nullopt;
}

OciOptions Options::oci() const {
  return OciOptions{arch_from_name(arch).value_or(Arch::kX86_64), capabilities, kernel};
}

ImportOptions Options::import() const {
  // Files that a policy includes are inputs, although the command line does not name them.
  const auto read = [sub = command_line,
                     files = included](const std::string& path) -> Result<std::string> {
    files->push_back(path);
    if (sub != nullptr)
      if (auto s = keep_outputs_off(*sub, path); !s) return s.error();
    return read_file(path);
  };
  return ImportOptions{oci(), filter, read};
}

void add_filter(CLI::App& app, const char* name, std::string& paths) {
  app.add_option(name, paths,
                 "Program or policy; commas separate the filters of a stack, newest first")
      ->required();
}

void add_program(CLI::App& app, std::string& path) {
  app.add_option("program", path, "Program in any form, or a policy (compiled, not optimized)")
      ->required();
}

void add_records(CLI::App& app, std::vector<std::string>& paths) {
  app.add_option("--inputs", paths,
                 "Run the 64-byte records of struct seccomp_data in this file; repeatable");
}

void add_listing(CLI::App& app, std::string& path) {
  app.add_option("--listing", path,
                 "Write an annotated listing of the program to this file, - for standard output");
}

CLI::Option* add_passes(CLI::App& app, std::vector<std::string>& passes) {
  return app
      .add_option("--passes", passes,
                  "Run only these passes, in this order, separated by commas; 'none' runs none")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_seed(CLI::App& app, std::uint64_t& seed) {
  add_number(app, "--seed", seed, 0, UINT64_MAX, "Set the random seed");
}

void add_max_regions(CLI::App& app, std::size_t& regions) {
  add_number(app, "--max-regions", regions, 0, 1000000,
             "List at most this many regions; counts still include all regions");
}

}  // namespace secequiv::cli
