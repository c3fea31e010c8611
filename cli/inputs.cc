#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/output.h"
#include "harness/adapter/command.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/coverage/state.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/seccomp/c_names.h"

namespace secequiv::cli {

Result<std::string> read_input(const std::string& path) {
  static bool stdin_taken = false;
  if (path == "-" && std::exchange(stdin_taken, true))
    return make_error(ErrorCode::kUsage, "-", "standard input is named twice");
  return read_file(path);
}

Result<std::vector<SeccompData>> load_records(const std::string& path) {
  const auto bytes = read_file(path, std::size_t{1} << 30);
  if (!bytes) return bytes.error();
  return read_inputs(*bytes, path);
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
    // A name may contain any character; a value has no '='.
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      return make_error(ErrorCode::kUsage, "--set",
                        fmt::format("expected NAME=VALUE, found '{}'", text));
    const std::string_view digits = std::string_view(text).substr(equals + 1);
    const auto value = parse_unsigned(digits);
    // In asm, a leading zero means octal.
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

// Gives the names of `program` the values of --set.
Status set_names(SymbolicProgram& program, const std::string& file, const Options& options) {
  const auto values = parse_settings(options.set);
  if (!values) return values.error();
  for (auto it = values->begin(); it != values->end(); ++it) {
    if (!is_symbol_name(it->first))
      return make_error(
          ErrorCode::kUsage, "--set",
          fmt::format("expected NAME=VALUE with a name as after '#$', found '{}'", it->first));
    if (std::find_if(values->begin(), it,
                     [&](const auto& one) { return one.first == it->first; }) != it)
      return make_error(ErrorCode::kUsage, "--set", fmt::format("'{}' is given twice", it->first));
    if (std::ranges::find(program.uses, it->first, &SymbolUse::name) == program.uses.end())
      warn(fmt::format("note: {} has no '${}', to which --set gives a value", file, it->first));
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
      return make_error(ErrorCode::kUsage, "--set",
                        fmt::format("{} is a policy, and --set is for programs in asm form (for a "
                                    "policy's variables, see 'precompile')",
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
                       fmt::format("; --set {}=NUMBER gives it one, and 'prove' covers all values",
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
                      "expected a program, found a policy; give policies as files");
  auto program = read_program(output.value, fmt::format("output of '{}'", command),
                              options.input_form(), c_names(options.oci().arch));
  if (!program)
    return make_error(ErrorCode::kAdapter, program.error().where, program.error().detail);
  return Source{fmt::format("'{}'", command), std::move(*program), std::nullopt};
}

}  // namespace secequiv::cli
