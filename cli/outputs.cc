#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "analyze/own_files.h"
#include "harness/base/paths.h"

namespace secequiv::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCertificate = "--certificate";

// Returns a value of an option, and its parts: commas separate the filters of a stack, and blanks
// the words of a command.
std::vector<std::string> paths_in(const std::string& value) {
  std::vector<std::string> out{value};
  for (const char separator : {',', ' '})
    for (std::size_t from = 0; value.find(separator) != value.npos && from < value.size();) {
      const std::size_t end = std::min(value.find(separator, from), value.size());
      if (end > from) out.push_back(value.substr(from, end - from));
      from = end + 1;
    }
  return out;
}

// Returns the files that an option will write. Leaves out special files such as /dev/null, because
// writing to them destroys nothing.
std::vector<std::string> outputs_of(const Option& option) {
  std::vector<std::string> out;
  if (option.writes() == Writes::kFile) out = option.values();
  if (option.name() == kCertificate)
    for (const std::string& folder : option.values())
      for (const char* name : kCertificateFiles) out.push_back((fs::path(folder) / name).string());
  std::erase_if(out, [](const std::string& path) {
    std::error_code error;
    return path == "-" || (fs::exists(path, error) && fs::is_other(path, error));
  });
  return out;
}

// Returns the output option of the command that would replace `path`, or "".
std::string output_onto(const Command& command, const std::string& path) {
  for (const Option& writer : command.options())
    for (const std::string& output : outputs_of(writer))
      if (same_file(output, path)) return output;
  return {};
}

constexpr std::string_view kAlsoInput = "is also an input; write to another file";

Status refuse(const std::string& output, std::string_view why) {
  return make_error(ErrorCode::kUsage, output, fmt::format("the output '{}' {}", output, why));
}

// Checks the output `output` of `writer`.
Status keep_apart(const Command& command, const std::string& output) {
  // Each output is equal to itself, so it is counted at least once.
  int named = 0;
  for (const Option& option : command.options()) {
    const auto others = outputs_of(option);
    named += static_cast<int>(std::ranges::count_if(
        others, [&](const std::string& other) { return same_file(output, other); }));
    if (!others.empty() || option.is_flag() || option.writes() == Writes::kFolder) continue;
    for (const std::string& value : option.values()) {
      if (lies_in(output, value)) return refuse(output, kAlsoInput);
      for (const std::string& path : paths_in(value))
        if (path != "-" && same_file(output, path)) return refuse(output, kAlsoInput);
    }
  }
  return named > 1 ? refuse(output, "is named twice; write each output to its own file") : Ok{};
}

}  // namespace

Status keep_outputs_apart(const Command& command) {
  for (const Option& writer : command.options())
    for (const std::string& output : outputs_of(writer))
      RETURN_IF_ERROR(keep_apart(command, output));
  if (const Option* option = command.find(kCertificate))
    for (const std::string& folder : option->values())
      for (const fs::path& path : certificate_files(folder, false))
        return make_error(ErrorCode::kUsage, path.string(),
                          fmt::format("--certificate: '{}' exists and is not a certificate; choose "
                                      "another folder",
                                      path.string()));
  return Ok{};
}

Status keep_outputs_off(const Command& command, const std::string& path) {
  const std::string output = output_onto(command, path);
  if (output.empty()) return Ok{};
  return make_error(ErrorCode::kUsage, output,
                    "an output would replace this file; write to another file");
}

}  // namespace secequiv::cli
