#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "cli/output.h"
#include "harness/adapter/command.h"
#include "harness/base/file.h"
#include "harness/base/file_type.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/coverage/state.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/seccomp/c_names.h"

namespace secequiv::cli {

Result<std::string> read_input(const std::string& path) {
  static bool stdin_taken = false;
  if (path == "-" && std::exchange(stdin_taken, true))
    return make_error(ErrorCode::kUsage, "-", "standard input is named twice");
  auto bytes = read_file(path);
  if (!bytes) return bytes;
  const std::string_view type = known_file_type(*bytes);
  if (type.empty()) return bytes;
  return make_error(ErrorCode::kParse, shown_name(path),
                    fmt::format("expected a program or a policy, found {}", type));
}

Result<std::vector<SeccompData>> load_records(const std::vector<std::string>& paths) {
  std::vector<SeccompData> out;
  for (const std::string& path : paths) {
    const auto bytes = read_file(path, std::size_t{1} << 30);
    if (!bytes) return bytes.error();
    const auto records = read_inputs(*bytes, path);
    if (!records) return records.error();
    out.insert(out.end(), records->begin(), records->end());
  }
  return out;
}

Status expect_no_program(std::string_view text, const std::string& name) {
  if (is_policy(text) || text.empty()) return Ok{};
  const auto program = read_symbolic(text, name);
  if (!program) return Ok{};
  return make_error(
      ErrorCode::kParse, name,
      fmt::format("expected a policy, found a program of {} (form {}); use 'dis' to print it, and "
                  "'actions' or 'why' to explain it",
                  counted(program->program.size(), "instruction"), form_name(detect_form(text))));
}

Status check_names(const Import& imported, const Options& options) {
  for (const UnknownName& unknown : imported.unknown) {
    if (options.strict_names)
      return make_error(ErrorCode::kPolicy,
                        fmt::format("{}:{}", unknown.position.file, unknown.position.line),
                        unknown.problem() + " (--strict-names)");
    warn("warning: " + unknown.text());
  }
  return Ok{};
}

namespace {

Result<Import> import_noted(std::string_view text, const std::string& name,
                            const Options& options) {
  if (auto s = expect_no_program(text, name); !s) return s.error();
  auto imported = import_policy(text, name, std::nullopt, options.import());
  if (!imported) return imported.error();
  for (const std::string& note : imported->notes) warn(fmt::format("{}: {}", name, note));
  return imported;
}

Result<Import> import_checked(std::string_view text, const std::string& name,
                              const Options& options) {
  auto imported = import_noted(text, name, options);
  if (!imported) return imported.error();
  if (auto s = check_names(*imported, options); !s) return s.error();
  return imported;
}

// Returns how to read a container profile for other capabilities, or std::nullopt for other
// policies.
std::optional<ContainerProfile> profile_of(const Import& imported, std::string_view text,
                                           const std::string& name, const Options& options) {
  if (imported.capabilities.empty()) return std::nullopt;
  const auto read = [whole = std::string(text), name, asked = options.import()](
                        const std::vector<std::string>& capabilities) -> Result<Policy> {
    ImportOptions changed = asked;
    changed.oci.capabilities = capabilities;
    auto again = import_policy(whole, name, PolicyFormat::kOci, changed);
    if (!again) return again.error();
    return std::move(again->policy);
  };
  return ContainerProfile{options.capabilities, imported.capabilities, read};
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, const std::string& name,
                            const Options& options) {
  auto imported = import_checked(text, name, options);
  if (!imported) return imported.error();
  return std::move(imported->policy);
}

Result<Import> load_import(const std::string& path, const Options& options) {
  auto text = read_input(path);
  if (!text) return text.error();
  return import_noted(*text, shown_name(path), options);
}

Result<Policy> load_policy(const std::string& path, const Options& options) {
  auto text = read_input(path);
  if (!text) return text.error();
  return parse_policy(*text, shown_name(path), options);
}

Result<std::optional<Policy>> load_optional_policy(const std::string& path,
                                                   const Options& options) {
  if (path.empty()) return std::optional<Policy>();
  auto policy = load_policy(path, options);
  if (!policy) return policy.error();
  return std::optional(std::move(*policy));
}

Result<Values> parse_settings(const std::vector<std::string>& settings) {
  Values out;
  for (const std::string& text : settings) {
    // A name may contain any character, but a value contains no '='.
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      return make_error(ErrorCode::kUsage, "--set",
                        fmt::format("expected NAME=VALUE, found '{}'", text));
    const std::string_view digits = std::string_view(text).substr(equals + 1);
    const auto value = parse_unsigned(digits);
    // Assembly reads a leading zero as octal.
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

// Replaces names in `program` by the values of --set.
Status set_names(SymbolicProgram& program, const std::string& file, const Options& options) {
  const auto values = parse_settings(options.set);
  if (!values) return values.error();
  for (auto it = values->begin(); it != values->end(); ++it) {
    if (!is_symbol_name(it->first))
      return make_error(
          ErrorCode::kUsage, "--set",
          fmt::format("expected NAME=VALUE with a name that may follow '#$', found '{}'",
                      it->first));
    if (std::find_if(values->begin(), it,
                     [&](const auto& one) { return one.first == it->first; }) != it)
      return make_error(ErrorCode::kUsage, "--set", fmt::format("'{}' is given twice", it->first));
    if (std::ranges::find(program.uses, it->first, &SymbolUse::name) == program.uses.end())
      warn(
          fmt::format("note: --set has no effect on {}, which has no name '${}'", file, it->first));
  }
  fill(program, *values);
  return Ok{};
}

}  // namespace

Result<Source> load_source(const std::string& path, const Options& options, Names names) {
  auto bytes = read_input(path);
  if (!bytes) {
    if (bytes.error().code == ErrorCode::kIo && path.find(',') != path.npos)
      bytes.error().detail += "; expected one filter, not a stack";
    return bytes.error();
  }
  const std::string name = shown_name(path);
  if (options.from.empty() && is_policy(*bytes)) {
    auto imported = import_checked(*bytes, name, options);
    if (!imported) return imported.error();
    if (!options.set.empty())
      return make_error(ErrorCode::kUsage, "--set",
                        fmt::format("expected a program in asm form, found the policy {} (use "
                                    "'precompile' for the variables of a policy)",
                                    name));
    Program program = compile(imported->policy);
    auto profile = profile_of(*imported, *bytes, name, options);
    return Source{name + " (compiled)",
                  std::move(program),
                  std::move(imported->policy),
                  {},
                  {path == "-" ? "" : path, false, {}},
                  std::move(profile)};
  }
  auto form = options.input_form();
  if (!form && options.big_endian && bytes->find('\0') != std::string::npos)
    form = Form::kRawBigEndian;
  auto program = read_symbolic(*bytes, name, form, c_names(options.oci().arch));
  if (!program) return program.error();
  if (auto s = set_names(*program, name, options); !s) return s.error();
  if (names == Names::kRefused && !program->uses.empty())
    return lacks_value(
        program->uses.front(),
        fmt::format("; give it one with --set {}=NUMBER, or use 'prove' for all values",
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
      return make_error(ErrorCode::kUsage, paths, "expected a file on both sides of each comma");
    auto source = load_source(path, options, names);
    if (!source) return source.error();
    out.push_back(std::move(*source));
    from = comma + 1;
  }
  return out;
}

Status expect_accepted(const std::string& name, ProgramView program) {
  if (const auto refusal = refusal_of(program, LengthRule::kUnlimited))
    return make_error(ErrorCode::kRejected, name, describe(*refusal, program));
  note_length(name, program);
  return Ok{};
}

Result<Source> load_accepted(const std::string& path, const Options& options) {
  auto source = load_source(path, options);
  if (!source) return source;
  if (auto s = expect_accepted(source->name, source->program); !s) return s.error();
  return source;
}

Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Options& options) {
  auto stack = load_stack(paths, options);
  if (!stack) return stack;
  for (const Source& source : *stack)
    if (auto s = expect_accepted(source.name, source.program); !s) return s.error();
  return stack;
}

namespace {

// Returns whether replacing one whole word `late` in `first` by `early` gives `second`.
bool differs_in_word(std::string_view first, std::string_view second, std::string_view late,
                     std::string_view early) {
  const auto is_letter = [&](std::size_t at) {
    return at < first.size() && std::isalnum(static_cast<unsigned char>(first[at])) != 0;
  };
  for (std::size_t at = first.find(late); at != first.npos; at = first.find(late, at + 1)) {
    if (is_letter(at - 1) || is_letter(at + late.size())) continue;
    if (second == std::string(first).replace(at, late.size(), early)) return true;
  }
  return false;
}

}  // namespace

void note_swapped(const Source& before, const Source& after) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {
      {{"after", "before"},
       {"new", "old"},
       {"optimized", "unoptimized"},
       {"optimized", "original"},
       {"opt", "orig"},
       {"opt", "unopt"}}};
  const bool policies = before.policy && after.policy;
  if (!policies && before.program.size() > after.program.size()) return;
  if (std::ranges::any_of(kWords, [&](const auto& words) {
        return differs_in_word(before.file.path, after.file.path, words.first, words.second);
      }))
    warn(fmt::format(
        "note: the first file is the filter before the change, and it is called {}; the second is "
        "called {}: are they swapped?",
        before.name, after.name));
}

Result<Source> load_command(const std::string& command, double timeout, const Options& options) {
  const Answer<std::string> output =
      run_command(command, {}, {timeout, 0, kMaxInputBytes, options.confinement()});
  if (!output.ok())
    return make_error(ErrorCode::kAdapter, fmt::format("command '{}'", command), output.detail);
  if (options.from.empty() && is_policy(output.value))
    return make_error(ErrorCode::kAdapter, fmt::format("output of '{}'", command),
                      "expected a program, found a policy; policies must come from files");
  auto program = read_program(output.value, fmt::format("output of '{}'", command),
                              options.input_form(), c_names(options.oci().arch));
  if (!program)
    return make_error(ErrorCode::kAdapter, program.error().where, program.error().detail);
  return Source{fmt::format("'{}'", command), std::move(*program), std::nullopt};
}

}  // namespace secequiv::cli
