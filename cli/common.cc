#include "cli/common.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "cli/colour.h"
#include "cli/progress.h"
#include "harness/adapter/command.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/import/capabilities.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/report/json.h"
#include "harness/report/junit.h"
#include "harness/report/sarif.h"
#include "harness/seccomp/c_names.h"

namespace secequiv::cli {

void Options::add_input(CLI::App& app) {
  app.add_option(
         "--from", from,
         "Form of the input programs: raw, raw-be, asm, ddd or c (default: by content). C is "
         "initializers or BPF_STMT and BPF_JUMP, with the names of linux/filter.h, seccomp.h, "
         "audit.h and unistd.h")
      ->check(one_of({"raw", "raw-be", "asm", "ddd", "c"}));
  app.add_flag("--big-endian", big_endian, "Raw input programs are big endian");
  app.add_option("--set", set,
                 "NAME=VALUE: the number for '#$NAME' in programs in asm form; repeatable")
      ->allow_extra_args(false);
}

void Options::add_output(CLI::App& app, const char* default_form) {
  to = default_form;
  app.add_option("--to", to, "Form of the output: raw, raw-be, asm, ddd or c")
      ->check(one_of({"raw", "raw-be", "asm", "ddd", "c"}))
      ->capture_default_str();
  app.add_option("-o,--output", output, "Output file, - for standard output")
      ->capture_default_str();
}

void Options::add_json(CLI::App& app) {
  app.add_flag("--json", json, "Report as JSON on standard output");
}

namespace {

// Is it the same file, there or not?
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(a, error), error);
  const auto second = std::filesystem::weakly_canonical(std::filesystem::absolute(b, error), error);
  return !error && first == second;
}

// A report goes to no file that anything else on the command line names: an input would be lost.
void keep_apart(const CLI::App& app, const std::vector<std::string>& reports) {
  for (const std::string& report : reports) {
    if (report.empty()) continue;
    int named = 0;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& value : option->results()) {
        if (same_file(report, value)) ++named;
        // The filters of a stack.
        for (std::size_t from = 0; value.find(',') != std::string::npos && from < value.size();) {
          const std::size_t comma = std::min(value.find(',', from), value.size());
          if (same_file(report, value.substr(from, comma - from))) ++named;
          from = comma + 1;
        }
      }
    if (named > 1)
      throw CLI::ValidationError(fmt::format(
          "'{}' is to be a report and stands for something else on the command line, too", report));
  }
}

// A report of ours, by how it begins.
bool is_report(const std::string& path) {
  constexpr std::size_t kEnough = 4096;
  std::ifstream file(path, std::ios::binary);
  std::string start(kEnough, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return (start.starts_with("<?xml") &&
          start.find("<testsuites name=\"secequiv\"") != std::string::npos) ||
         (start.find("sarif-2.1.0.json") != std::string::npos &&
          start.find("\"name\": \"secequiv\"") != std::string::npos) ||
         (start.starts_with("<!DOCTYPE html>") &&
          start.find("<meta name=\"generator\" content=\"secequiv\">") != std::string::npos);
}

}  // namespace

void drop_old_reports(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string text = arguments[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (name != "--junit" && name != "--sarif" && name != "--html") continue;
    std::string path;
    if (equals != std::string::npos)
      path = text.substr(equals + 1);
    else if (i + 1 < arguments.size())
      path = arguments[i + 1];
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || !is_report(path)) continue;
    // What a link names, not the link.
    std::filesystem::remove(std::filesystem::weakly_canonical(path, error), error);
  }
}

void Options::add_reports(CLI::App& app, bool page) {
  command = app.get_name();
  const auto file = [](const std::string& path) {
    return path == "-" ? std::string("expected a file, found '-': standard output has the report")
                       : std::string();
  };
  app.add_option("--junit", junit, "Also write what was found as JUnit XML, for CI systems")
      ->check(file);
  app.add_option("--sarif", sarif, "Also write what was found as SARIF 2.1.0, for code review")
      ->check(file);
  if (page)
    app.add_option("--html", html,
                   "Also write one page for people: both programs with their coverage, the graph, "
                   "the difference, costs, inputs to step through; it needs no network")
        ->check(file);
  app.parse_complete_callback([this, &app] { keep_apart(app, {junit, sarif, html}); });
}

void Options::add_timeout(CLI::App& app, const char* text) {
  app.add_option("--timeout", timeout, text)->check(seconds())->capture_default_str();
}

void Options::add_same(CLI::App& app) {
  app.add_option("--same", same, "What counts as the same decision: raw (all 32 bits) or behaviour")
      ->check(one_of({"raw", "behaviour"}))
      ->capture_default_str();
}

void Options::add_import(CLI::App& app) {
  app.add_option(
         "--arch", arch,
         "Architecture (name) of the host, for other projects' policies and __NR_ names in C")
      ->check(architecture())
      ->capture_default_str();
  add_profile(app);
}

void Options::add_profile(CLI::App& app) {
  app.add_option("--cap", capabilities,
                 "Capability granted to the container (CAP_...), for OCI profiles; repeatable")
      ->check([](const std::string& name) { return capability_problem(name); });
  app.add_option("--kernel", kernel, "Kernel version of the host, for OCI profiles")
      ->check([](const std::string& version) { return kernel_version_problem(version); })
      ->capture_default_str();
  app.add_option("--filter", filter,
                 "Name of the filter, in files of seccompiler that hold several");
}

void Options::add_sandbox(CLI::App& app) {
  app.add_flag(
      "--no-sandbox", no_sandbox,
      "Commands and plugins under test keep the network and the privileges of this process");
}

void Options::add_quiet(CLI::App& app) {
  app.add_flag("--quiet", quiet, "Only the verdict's line, and nothing if all is well");
}

std::shared_ptr<const Confinement> Options::confinement() const {
  if (no_sandbox) return nullptr;
  static const auto made = [] {
    auto confinement = Confinement::make();
    for (const std::string& lack : confinement->lacking())
      warn("note: of commands under test, " + lack);
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

Result<std::string> read_input(const std::string& path) {
  static bool stdin_taken = false;
  if (path == "-" && std::exchange(stdin_taken, true))
    return make_error(ErrorCode::kUsage, "-", "standard input is given twice");
  return read_file(path);
}

Result<Policy> parse_policy(std::string_view text, const std::string& name,
                            const Options& options) {
  auto imported = import_policy(text, name, std::nullopt, options.import());
  if (!imported) return imported.error();
  for (const std::string& note : imported->notes) warn(fmt::format("{}: {}", name, note));
  return std::move(imported->policy);
}

Result<Policy> load_policy(const std::string& path, const Options& options) {
  auto text = read_input(path);
  if (!text) return text.error();
  return parse_policy(*text, shown_name(path), options);
}

Result<Values> parse_settings(const std::vector<std::string>& settings) {
  Values out;
  for (const std::string& text : settings) {
    // A name may hold any character, a value has no '='.
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      return make_error(ErrorCode::kUsage, "--set",
                        fmt::format("expected NAME=VALUE, found '{}'", text));
    const std::string_view digits = std::string_view(text).substr(equals + 1);
    const auto value = parse_unsigned(digits);
    // With a leading zero it would be octal in asm.
    const bool octal =
        digits.size() > 1 && digits[0] == '0' && digits[1] != 'x' && digits[1] != 'X';
    if (!value || *value > 0xffffffff || octal)
      return make_error(
          ErrorCode::kUsage, "--set",
          fmt::format("expected NAME=VALUE with a value from 0 to 2^32-1, decimal without "
                      "leading zeros or 0x, found '{}'",
                      text));
    out.emplace_back(text.substr(0, equals), static_cast<std::uint32_t>(*value));
  }
  return out;
}

namespace {

// Can it stand behind '#$' in asm?
bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// The values that --set gives the names of `program`.
Status set_names(SymbolicProgram& program, const std::string& file, const Options& options) {
  const auto values = parse_settings(options.set);
  if (!values) return values.error();
  for (auto it = values->begin(); it != values->end(); ++it) {
    if (!is_name(it->first))
      return make_error(
          ErrorCode::kUsage, "--set",
          fmt::format("expected NAME=VALUE, the name as behind '#$', found '{}'", it->first));
    if (std::find_if(values->begin(), it,
                     [&](const auto& one) { return one.first == it->first; }) != it)
      return make_error(ErrorCode::kUsage, "--set", fmt::format("'{}' is given twice", it->first));
    if (std::ranges::find(program.uses, it->first, &SymbolUse::name) == program.uses.end())
      warn(fmt::format("note: {} has no '${}', which --set gives a value", file, it->first));
  }
  fill(program, *values);
  return Ok{};
}

}  // namespace

Result<Source> load_source(const std::string& path, const Options& options, Names names) {
  auto bytes = read_input(path);
  if (!bytes) return bytes.error();
  const std::string name = shown_name(path);
  if (options.from.empty() && is_policy(*bytes)) {
    auto policy = parse_policy(*bytes, name, options);
    if (!policy) return policy.error();
    if (!options.set.empty())
      return make_error(
          ErrorCode::kUsage, "--set",
          fmt::format("{} is a policy, and --set is for programs in asm form ('patch' "
                      "has one for a policy's variables)",
                      name));
    Program program = compile(*policy);
    return Source{name + " (compiled)",
                  std::move(program),
                  std::move(*policy),
                  {},
                  {path == "-" ? "" : path, false, {}}};
  }
  auto form = options.input_form();
  if (!form && options.big_endian && bytes->find('\0') != std::string::npos)
    form = Form::kRawBigEndian;
  auto program = read_symbolic(*bytes, name, form, c_names(options.oci().arch));
  if (!program) return program.error();
  if (auto s = set_names(*program, name, options); !s) return s.error();
  if (names == Names::kRefused && !program->uses.empty())
    return lacks_value(program->uses.front(),
                       fmt::format("; --set {}=NUMBER gives it one, and 'prove' is for all values",
                                   program->uses.front().name));
  if (!form) form = detect_form(*bytes);
  return Source{name,
                std::move(program->program),
                std::nullopt,
                std::move(program->uses),
                {path == "-" ? "" : path, *form == Form::kRaw || *form == Form::kRawBigEndian,
                 std::move(program->lines)}};
}

Result<std::vector<Source>> load_stack(const std::string& paths, const Options& options,
                                       Names names) {
  std::vector<Source> out;
  std::error_code ignored;
  const bool whole =
      paths.find(',') == std::string::npos || std::filesystem::exists(paths, ignored);
  std::size_t from = 0;
  for (bool more = true; more;) {
    const std::size_t comma = whole ? std::string::npos : paths.find(',', from);
    more = comma != std::string::npos;
    const std::string path = paths.substr(from, comma - from);
    if (path.empty() && !paths.empty())
      return make_error(ErrorCode::kUsage, paths, "expected a file on either side of each comma");
    auto source = load_source(path, options, names);
    if (!source) return source.error();
    out.push_back(std::move(*source));
    from = comma + 1;
  }
  return out;
}

namespace {

Status acceptable(const Source& source) {
  if (const auto refusal = check(source.program, LengthRule::kUnlimited))
    return make_error(ErrorCode::kRejected, source.name, describe(*refusal, source.program));
  note_length(source.name, source.program);
  return Ok{};
}

}  // namespace

Result<Source> load_accepted(const std::string& path, const Options& options) {
  auto source = load_source(path, options);
  if (!source) return source;
  if (auto s = acceptable(*source); !s) return s.error();
  return source;
}

Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Options& options) {
  auto stack = load_stack(paths, options);
  if (!stack) return stack;
  for (const Source& source : *stack)
    if (auto s = acceptable(source); !s) return s.error();
  return stack;
}

Result<Source> load_command(const std::string& command, double timeout, const Options& options) {
  const Answer<std::string> output =
      run_command(command, {}, {timeout, 0, kMaxInputBytes, options.confinement()});
  if (!output.ok())
    return make_error(ErrorCode::kAdapter, fmt::format("command '{}'", command), output.detail);
  if (options.from.empty() && is_policy(output.value))
    return make_error(ErrorCode::kAdapter, fmt::format("output of '{}'", command),
                      "expected a program, found a policy, which can be given as a file");
  auto program = read_program(output.value, fmt::format("output of '{}'", command),
                              options.input_form(), c_names(options.oci().arch));
  if (!program)
    return make_error(ErrorCode::kAdapter, program.error().where, program.error().detail);
  return Source{fmt::format("'{}'", command), std::move(*program), std::nullopt};
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
                      "standard output is for the report with --json; name a file");
  return Ok{};
}

int print(std::string_view text, int status) {
  end_status();
  const Status written =
      write_file("-", colour_wanted(STDOUT_FILENO) ? coloured(text) : std::string(text));
  if (written) return status;
  fmt::print(stderr, "secequiv: {}\n", written.error().text());
  return exit_code(written.error().code);
}

namespace {

Status write_found(const ReportedCases& found, const Options& options) {
  if (!options.junit.empty())
    if (auto s = write_file(options.junit, junit(found)); !s) return s;
  if (!options.sarif.empty())
    if (auto s = write_file(options.sarif, sarif(found, SECEQUIV_VERSION)); !s) return s;
  return Ok{};
}

}  // namespace

int print_verdict(std::string_view text, int status, const Options& options) {
  if (!options.quiet || options.json) return print(text, status);
  if (status == 0) return 0;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return print(fmt::format("{}\n", text.substr(text.rfind('\n') + 1)), status);
}

int print_found(std::string_view text, const ReportedCases& found, const Options& options,
                const Status& also) {
  const int status = print_verdict(text, found.exit_status, options);
  int failed = 0;
  for (const Status& written : {write_found(found, options), also}) {
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
  if (auto s = write_found(reported(error, options.command, status), options); !s)
    fmt::print(stderr, "secequiv: {}\n", s.error().text());
  return status;
}

}  // namespace secequiv::cli
