// Reads filters and policies from files, standard input and commands.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "analyze/load.h"
#include "harness/adapter/command.h"
#include "harness/base/file.h"
#include "harness/base/file_type.h"
#include "harness/coverage/state.h"
#include "harness/seccomp/c_names.h"

namespace secequiv {

Result<std::string> read_input(const std::string& path, const Note& prompt) {
  static bool stdin_taken = false;
  if (path == "-" && std::exchange(stdin_taken, true))
    return make_error(ErrorCode::kUsage, "-",
                      "standard input can be read only once, but it is named twice");
  if (path == "-" && ::isatty(STDIN_FILENO) == 1)
    prompt("note: reading standard input (Ctrl-D ends it)");
  auto bytes = read_file(path);
  if (!bytes && bytes.error().code == ErrorCode::kIo && path.find(',') != path.npos) {
    bytes.error().detail += "; expected one filter, not a stack";
    bytes.error().subject = Subject::kStack;
  }
  if (!bytes) return bytes;
  const std::string_view type = known_file_type(*bytes);
  if (type.empty()) return bytes;
  return make_error(ErrorCode::kParse, shown_name(path),
                    fmt::format("expected a program or a policy, found {}", type));
}

Result<std::vector<SeccompData>> load_records(const std::vector<std::string>& paths) {
  std::vector<SeccompData> out;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const auto bytes, read_file(path, std::size_t{1} << 30));
    ASSIGN_OR_RETURN(const auto records, read_inputs(bytes, path));
    out.insert(out.end(), records.begin(), records.end());
  }
  return out;
}

Result<Import> load_import(const std::string& path, const Reading& reading) {
  ASSIGN_OR_RETURN(auto text, read_input(path, reading.prompt));
  return parse_import(text, shown_name(path), reading);
}

Result<Policy> load_policy(const std::string& path, const Reading& reading) {
  ASSIGN_OR_RETURN(auto text, read_input(path, reading.prompt));
  return parse_policy(text, shown_name(path), reading);
}

Result<std::optional<Policy>> load_optional_policy(const std::string& path,
                                                   const Reading& reading) {
  if (path.empty()) return std::optional<Policy>();
  ASSIGN_OR_RETURN(auto policy, load_policy(path, reading));
  return std::optional(std::move(policy));
}

Result<Source> load_source(const std::string& path, const Reading& reading) {
  ASSIGN_OR_RETURN(auto bytes, read_input(path, reading.prompt));
  return read_source(bytes, shown_name(path), path == "-" ? "" : path, reading);
}

Result<std::vector<Source>> load_stack(const std::string& paths, const Reading& reading) {
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
    ASSIGN_OR_RETURN(auto source, load_source(path, reading));
    out.push_back(std::move(source));
    from = comma + 1;
  }
  return out;
}

Result<Source> load_accepted(const std::string& path, const Reading& reading) {
  auto source = load_source(path, reading);
  if (!source) return source;
  RETURN_IF_ERROR(expect_accepted(*source, reading));
  return source;
}

Result<std::vector<Source>> load_accepted_stack(const std::string& paths, const Reading& reading) {
  auto stack = load_stack(paths, reading);
  if (!stack) return stack;
  for (const Source& source : *stack) RETURN_IF_ERROR(expect_accepted(source, reading));
  return stack;
}

Result<Source> load_command(const std::string& command, const AdapterLimits& limits,
                            const Reading& reading) {
  const Answer<std::string> output = run_command(command, {}, limits);
  if (!output.ok())
    return make_error(
        output.outcome == Outcome::kCannotRun ? ErrorCode::kUsage : ErrorCode::kAdapter,
        fmt::format("command '{}'", command), output.detail);
  if (!output.detail.empty())
    return make_error(ErrorCode::kAdapter, fmt::format("command '{}'", command),
                      "expected a program on its standard output, but " + output.detail);
  if (!reading.form && is_policy(output.value))
    return make_error(ErrorCode::kAdapter, fmt::format("output of '{}'", command),
                      "expected a program, found a policy; policies must come from files");
  auto program = read_program(output.value, fmt::format("output of '{}'", command), reading.form,
                              c_names(reading.import.oci.arch));
  if (!program)
    return make_error(ErrorCode::kAdapter, program.error().where, program.error().detail);
  return Source{fmt::format("'{}'", command), std::move(*program), std::nullopt};
}

}  // namespace secequiv
