#include "cli/report_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/base/file.h"
#include "harness/report/junit.h"
#include "harness/report/markdown.h"
#include "harness/report/sarif.h"

namespace secequiv::cli {
namespace {

namespace fs = std::filesystem;

// These options name a file to write, or a folder in which files with generated names are written.
constexpr std::array kFileOptions = {"chart",    "emit-smt2", "html",  "junit", "listing",
                                     "markdown", "output",    "sarif", "state", "write-expect"};
constexpr std::array kFolderOptions = {"certificate", "corpus", "instantiate", "save"};
constexpr std::array kCertificateFiles = {"walk.cert", "query.cnf", "proof.lrat"};

bool is_one_of(std::span<const char* const> names, const CLI::Option& option) {
  return std::ranges::any_of(names, [&](const char* name) { return option.check_lname(name); });
}

// Returns where a file that is written to `path` appears: the target of symbolic links, whether it
// exists or not.
fs::path destination(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links)
    path = path.parent_path() / fs::read_symlink(path, error);
  return fs::weakly_canonical(fs::absolute(path, error), error);
}

// Returns whether both paths name one file, which need not exist.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) || destination(a) == destination(b);
}

// Returns whether `file` exists somewhere below `folder`.
bool lies_in(const std::string& file, const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error) || !fs::exists(file, error)) return false;
  const fs::path relative = destination(file).lexically_relative(destination(folder));
  return !relative.empty() && *relative.begin() != "..";
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

// Returns the files that an option will write, except special files such as /dev/null, which lose
// nothing.
std::vector<std::string> outputs_of(const CLI::Option& option) {
  std::vector<std::string> out;
  if (is_one_of(kFileOptions, option)) out = option.results();
  if (option.check_lname("certificate"))
    for (const std::string& folder : option.results())
      for (const char* name : kCertificateFiles) out.push_back((fs::path(folder) / name).string());
  std::erase_if(out, [](const std::string& path) {
    std::error_code error;
    return path == "-" || (fs::exists(path, error) && fs::is_other(path, error));
  });
  return out;
}

std::string beginning(const std::string& path) {
  constexpr std::size_t kEnough = 4096;
  std::ifstream file(path, std::ios::binary);
  std::string start(kEnough, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

// Returns whether the beginning of a file looks like a report of this tool.
bool is_report(const std::string& path) {
  const std::string start = beginning(path);
  return (start.starts_with("<?xml") &&
          start.find("<testsuites name=\"secequiv\"") != std::string::npos) ||
         (start.find("sarif-2.1.0.json") != std::string::npos &&
          start.find("\"name\": \"secequiv\"") != std::string::npos) ||
         start.starts_with(kMarkdownMark) ||
         (start.starts_with("<!DOCTYPE html>") &&
          start.find("<meta name=\"generator\" content=\"secequiv\">") != std::string::npos);
}

// Returns whether a file is part of a certificate of this tool. A proof file has no recognizable
// beginning, so the formula in the same folder is examined.
bool is_certificate(const fs::path& path) {
  if (path.filename() == "walk.cert")
    return beginning(path).starts_with("secequiv walk certificate");
  return beginning(path.parent_path() / "query.cnf").starts_with("c secequiv cnf certificate");
}

// Returns the paths of the files in `folder` whose names a certificate uses: those that this tool
// wrote if `ours`, otherwise those that it did not write.
std::vector<fs::path> certificate_files(const std::string& folder, bool ours) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const char* name : kCertificateFiles)
    if (const fs::path path = fs::path(folder) / name;
        fs::is_regular_file(path, error) && is_certificate(path) == ours)
      out.push_back(path);
  return out;
}

// Returns the output option of the command that would replace `path`, or "".
std::string output_onto(const CLI::App& command, const std::string& path) {
  for (const CLI::Option* writer : command.get_options())
    for (const std::string& output : outputs_of(*writer))
      if (same_file(output, path)) return output;
  return {};
}

[[noreturn]] void refuse(const std::string& output) {
  throw CLI::ValidationError(
      fmt::format("expected a different output file than '{}', because the command line also uses "
                  "this name elsewhere",
                  output));
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
          if (lies_in(output, value)) refuse(output);
          for (const std::string& path : paths_in(value))
            if (path != "-" && same_file(output, path)) refuse(output);
        }
      }
      if (named > 1) refuse(output);
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
                    "this file would be written, but an input includes it");
}

void drop_old_reports(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string text = arguments[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    std::string path;
    if (equals != std::string::npos)
      path = text.substr(equals + 1);
    else if (i + 1 < arguments.size())
      path = arguments[i + 1];
    std::error_code error;
    if (name == "--certificate")
      for (const fs::path& old : certificate_files(path, true)) fs::remove(old, error);
    const bool report =
        name == "--junit" || name == "--sarif" || name == "--markdown" || name == "--html";
    if (!report || !fs::is_regular_file(path, error) || !is_report(path)) continue;
    // Removes the target of a link, not the link.
    fs::remove(fs::weakly_canonical(path, error), error);
  }
}

Status write_report_files(const ReportedCases& found, const Options& options) {
  const auto write = [&](const std::string& path, auto&& render) -> Status {
    const auto is_it = [&](const std::string& included) { return same_file(path, included); };
    if (path.empty() || std::ranges::any_of(*options.included, is_it)) return Ok{};
    return write_file(path, render());
  };
  if (auto s = write(options.junit, [&] { return junit(found); }); !s) return s;
  if (auto s = write(options.sarif, [&] { return sarif(found, SECEQUIV_VERSION); }); !s) return s;
  return write(options.markdown, [&] { return markdown(found); });
}

}  // namespace secequiv::cli
