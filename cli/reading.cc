#include "cli/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cli/engine_options.h"
#include "cli/libseccomp.h"
#include "cli/output.h"
#include "harness/base/text.h"

namespace secequiv::cli {
namespace {

using Values = std::vector<std::pair<std::string, std::uint32_t>>;

// Reads the values of --set, each given as NAME=VALUE.
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
          fmt::format("expected NAME=VALUE with a value from 0 to 2^32-1 (decimal without "
                      "leading zeros, or hexadecimal with 0x), found '{}'",
                      text));
    out.emplace_back(text.substr(0, equals), static_cast<std::uint32_t>(*value));
  }
  return out;
}

// Replaces names in `program` by the values of --set.
Status set_names(SymbolicProgram& program, const std::string& file, const Options& options) {
  ASSIGN_OR_RETURN(const auto values, parse_settings(options.set));
  for (auto it = values.begin(); it != values.end(); ++it) {
    if (!is_symbol_name(it->first))
      return make_error(
          ErrorCode::kUsage, "--set",
          fmt::format("expected NAME=VALUE with a name that may follow '#$', found '{}'",
                      it->first));
    if (std::find_if(values.begin(), it, [&](const auto& one) { return one.first == it->first; }) !=
        it)
      return make_error(ErrorCode::kUsage, "--set", fmt::format("'{}' is given twice", it->first));
    if (std::ranges::find(program.uses, it->first, &SymbolUse::name) == program.uses.end())
      options.note(
          fmt::format("note: --set has no effect on {}, which has no name '${}'", file, it->first));
  }
  fill(program, values);
  return Ok{};
}

}  // namespace

Reading reading(const Options& options, Names names) {
  Reading out;
  out.form = options.input_form();
  out.big_endian = options.big_endian;
  out.import = options.import();
  out.for_names = !options.set.empty();
  out.require_whole = options.require_whole;
  out.limits = diagram_limits(options);
  out.names = [&options, names](SymbolicProgram& program, const std::string& name) -> Status {
    RETURN_IF_ERROR(set_names(program, name, options));
    if (names == Names::kTaken || program.uses.empty()) return Ok{};
    const SymbolUse& use = program.uses.front();
    return lacks_value(
        use, fmt::format("; set the value with --set {}=NUMBER, or use 'prove' for all values",
                         use.name));
  };
  if (options.libseccomp != "none") {
    AskLibrary& ask = *options.ask_library;
    if (!ask)
      ask = ask_once(ask_libseccomp(
          options.libseccomp.empty() ? kUsualLibseccomp : options.libseccomp, options.tree));
    out.library = ask;
  }
  out.library_filters = !options.libseccomp.empty() && options.libseccomp != "none";
  out.unknown = [&options](const UnknownName& unknown) -> Status {
    if (options.strict_names)
      return make_error(ErrorCode::kPolicy,
                        fmt::format("{}:{}", unknown.position.file, unknown.position.line),
                        unknown.problem() + " (--strict-names)");
    options.warning(unknown.text());
    return Ok{};
  };
  out.failure = [&options](const LoadFailure& failure) { options.warning(failure.text()); };
  out.choice = [&options](const std::string& text) {
    options.notes->push_back({text, false, true});
  };
  out.note = [&options](const std::string& text) { options.note(text); };
  out.warning = [&options](const std::string& text) { options.warning(text); };
  out.prompt = [](const std::string& text) { warn(text); };
  return out;
}

}  // namespace secequiv::cli
