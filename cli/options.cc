#include "cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/output.h"
#include "cli/report_files.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/import/capabilities.h"

namespace secequiv::cli {

void Options::add_input(CLI::App& app) {
  app.add_option("--from", from, "Read programs in this form (default: detected by content)")
      ->check(one_of({"raw", "raw-be", "asm", "ddd", "c"}));
  app.add_flag("--big-endian", big_endian, "Read raw programs as big endian");
  app.add_option("--set", set, "Give a number to a name in the input, as NAME=VALUE; repeatable")
      ->allow_extra_args(false);
}

void Options::add_output(CLI::App& app, const char* default_form) {
  to = default_form;
  app.add_option("--to", to, "Write the program in this form")
      ->check(one_of({"raw", "raw-be", "asm", "ddd", "c"}))
      ->capture_default_str();
  app.add_option("-o,--output", output, "Write to this file, - for standard output")
      ->capture_default_str();
}

void Options::add_json(CLI::App& app) {
  app.add_flag("--json", json, "Report as JSON on standard output");
}

void Options::add_reports(CLI::App& app, bool page) {
  command = app.get_name();
  const auto file = [](const std::string& path) {
    return path == "-"
               ? std::string("expected a file, found '-': the report goes to standard output")
               : std::string();
  };
  app.add_option("--junit", junit, "Also report to this file as JUnit XML, for CI systems")
      ->check(file);
  app.add_option("--sarif", sarif, "Also report to this file as SARIF 2.1.0, for code review")
      ->check(file);
  if (page)
    app.add_option("--html", html, "Also report to this file as a self-contained HTML page")
        ->check(file);
  app.parse_complete_callback([this, &app] { keep_reports_apart(app, {junit, sarif, html}); });
}

void Options::add_timeout(CLI::App& app) {
  app.add_option("--timeout", timeout, "Limit proofs and exact analyses to this many seconds")
      ->check(seconds())
      ->capture_default_str();
}

void Options::add_same(CLI::App& app) {
  app.add_option("--same", same,
                 "Compare all 32 bits of decisions (raw) or what a process can observe")
      ->check(one_of({"raw", "behaviour"}))
      ->capture_default_str();
}

void Options::add_import(CLI::App& app) {
  app.add_option("--arch", arch,
                 "Read policies and __NR_ names in C for a host of this architecture")
      ->check(architecture())
      ->capture_default_str();
  add_profile(app);
}

void Options::add_profile(CLI::App& app) {
  app.add_option("--cap", capabilities,
                 "Read OCI profiles for a container with this CAP_...; repeatable")
      ->check([](const std::string& name) { return capability_problem(name); });
  app.add_option("--kernel-version", kernel, "Read OCI profiles for a host with this kernel")
      ->check([](const std::string& version) { return kernel_version_problem(version); })
      ->capture_default_str();
  app.add_option("--filter", filter,
                 "Read the filter of this name, where a file holds several (seccompiler)");
}

void Options::add_sandbox(CLI::App& app) {
  app.add_flag("--no-sandbox", no_sandbox,
               "Let commands and plugins under test keep network and privileges");
}

void Options::add_quiet(CLI::App& app) {
  app.add_flag("--quiet", quiet, "Print only the line of the verdict, and nothing for a pass");
}

std::shared_ptr<const Confinement> Options::confinement() const {
  if (no_sandbox) return nullptr;
  static const auto made = [] {
    auto confinement = Confinement::make();
    for (const std::string& lack : confinement->lacking())
      warn("note: commands under test: " + lack);
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
  return ImportOptions{oci(), filter, [](const std::string& path) { return read_file(path); }};
}

CLI::Validator seconds(bool or_none) {
  const auto check = [or_none](const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool good = error == std::errc() && end == text.data() + text.size() &&
                      std::isfinite(value) && (value > 0 || (or_none && value == 0));
    return good ? std::string()
                : fmt::format("expected seconds{}above 0, found '{}'", or_none ? ", 0 or " : " ",
                              text);
  };
  return {check, "SECONDS"};
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [description, words = std::move(words)](const std::string& text) {
    return std::ranges::find(words, text) != words.end()
               ? std::string()
               : fmt::format("expected one of {}, found '{}'{}", description, text,
                             did_you_mean(similar_names(text, words)));
  };
  return {check, std::move(description)};
}

CLI::Validator architecture() {
  const auto check = [](const std::string& name) {
    std::vector<std::string_view> known;
    for (const ArchInfo& info : all_arches()) known.push_back(info.name);
    return arch_from_name(name)
               ? std::string()
               : fmt::format("expected one of {}, found '{}'{}", fmt::join(known, ", "), name,
                             did_you_mean(similar_arches(name)));
  };
  return {check, "ARCH"};
}

Result<std::uint64_t> parse_u64(const std::string& text, std::string_view what) {
  if (const auto value = parse_number(text)) return *value;
  return make_error(ErrorCode::kUsage, std::string(what),
                    fmt::format("expected a number from -2^63 to 2^64-1, found '{}'", text));
}

Result<std::uint32_t> parse_nr(const std::string& text, std::optional<Arch> arch) {
  if (arch)
    if (const auto nr = syscall_nr(*arch, text)) return *nr;
  const auto number = parse_u64(text, "--nr");
  if (number && (*number <= 0xffffffff || *number >= 0xffffffff80000000))
    return static_cast<std::uint32_t>(*number);
  if (!arch)
    return make_error(ErrorCode::kUsage, "--nr",
                      fmt::format("expected a 32-bit number, found '{}'", text));
  return make_error(
      ErrorCode::kUsage, "--nr",
      fmt::format("'{}' is neither a number nor a system call of {}{}", text, arch_info(*arch).name,
                  did_you_mean(similar_syscalls(*arch, text))));
}

}  // namespace secequiv::cli
