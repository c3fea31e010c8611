#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "analyze/own_files.h"
#include "harness/base/paths.h"
#include "harness/report/formats.h"

namespace secequiv::cli {
namespace {

namespace fs = std::filesystem;

// These options name a file to write, or a folder in which files with generated names are written.
constexpr std::array kFileOptions = {"chart",  "emit-smt2", "html",        "listing",
                                     "output", "state",     "write-expect"};
constexpr std::array kFolderOptions = {"certificate", "corpus", "instantiate", "save"};
bool is_one_of(std::span<const char* const> names, const CLI::Option& option) {
  return std::ranges::any_of(names, [&](const char* name) { return option.check_lname(name); });
}

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
std::vector<std::string> outputs_of(const CLI::Option& option) {
  std::vector<std::string> out;
  const bool report = std::ranges::any_of(
      report_formats(), [&](const ReportFormat& form) { return option.check_lname(form.name); });
  if (report || is_one_of(kFileOptions, option)) out = option.results();
  if (option.check_lname("certificate"))
    for (const std::string& folder : option.results())
      for (const char* name : kCertificateFiles) out.push_back((fs::path(folder) / name).string());
  std::erase_if(out, [](const std::string& path) {
    std::error_code error;
    return path == "-" || (fs::exists(path, error) && fs::is_other(path, error));
  });
  return out;
}

// Returns the output option of the command that would replace `path`, or "".
std::string output_onto(const CLI::App& command, const std::string& path) {
  for (const CLI::Option* writer : command.get_options())
    for (const std::string& output : outputs_of(*writer))
      if (same_file(output, path)) return output;
  return {};
}

constexpr std::string_view kAlsoInput = "is also an input; write to another file";

[[noreturn]] void refuse(const std::string& output, std::string_view why) {
  throw CLI::ValidationError(fmt::format("the output '{}' {}", output, why));
}

}  // namespace

void keep_outputs_apart(const CLI::App& command) {
  const auto options = command.get_options();
  for (const CLI::Option* writer : options)
    for (const std::string& output : outputs_of(*writer)) {
      // Each output is equal to itself, so it is counted at least once.
      int named = 0;
      for (const CLI::Option* option : options) {
        const auto others = outputs_of(*option);
        named += static_cast<int>(std::ranges::count_if(
            others, [&](const std::string& other) { return same_file(output, other); }));
        if (!others.empty() || is_one_of(kFolderOptions, *option)) continue;
        for (const std::string& value : option->results()) {
          if (lies_in(output, value)) refuse(output, kAlsoInput);
          for (const std::string& path : paths_in(value))
            if (path != "-" && same_file(output, path)) refuse(output, kAlsoInput);
        }
      }
      if (named > 1) refuse(output, "is named twice; write each output to its own file");
    }
  if (const CLI::Option* option = command.get_option_no_throw("--certificate"))
    for (const std::string& folder : option->results())
      for (const fs::path& path : certificate_files(folder, false))
        throw CLI::ValidationError(fmt::format(
            "--certificate: '{}' exists and is not a certificate; choose another folder",
            path.string()));
}

Status keep_outputs_off(const CLI::App& command, const std::string& path) {
  const std::string output = output_onto(command, path);
  if (output.empty()) return Ok{};
  return make_error(ErrorCode::kUsage, output,
                    "an output would replace this file; write to another file");
}

}  // namespace secequiv::cli
