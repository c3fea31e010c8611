#include "cli/report_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/base/file.h"
#include "harness/report/junit.h"
#include "harness/report/sarif.h"

namespace secequiv::cli {
namespace {

// Whether both paths name one file, which need not exist.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const auto first = std::filesystem::weakly_canonical(std::filesystem::absolute(a, error), error);
  const auto second = std::filesystem::weakly_canonical(std::filesystem::absolute(b, error), error);
  return !error && first == second;
}

// Whether a file is a report of this tool, judged by its beginning.
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

// A report goes to no file that anything else on the command line names: an input would be lost.
void keep_reports_apart(const CLI::App& app, const std::vector<std::string>& reports) {
  for (const std::string& report : reports) {
    if (report.empty()) continue;
    int named = 0;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& value : option->results()) {
        if (same_file(report, value)) ++named;
        // The filters of a stack are separated by commas.
        for (std::size_t from = 0; value.find(',') != std::string::npos && from < value.size();) {
          const std::size_t comma = std::min(value.find(',', from), value.size());
          if (same_file(report, value.substr(from, comma - from))) ++named;
          from = comma + 1;
        }
      }
    if (named > 1)
      throw CLI::ValidationError(fmt::format(
          "'{}' would be a report, but the command line also uses it for something else", report));
  }
}

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
    // Remove the target of a link, not the link.
    std::filesystem::remove(std::filesystem::weakly_canonical(path, error), error);
  }
}

Status write_report_files(const ReportedCases& found, const Options& options) {
  if (!options.junit.empty())
    if (auto s = write_file(options.junit, junit(found)); !s) return s;
  if (!options.sarif.empty())
    if (auto s = write_file(options.sarif, sarif(found, SECEQUIV_VERSION)); !s) return s;
  return Ok{};
}

}  // namespace secequiv::cli
