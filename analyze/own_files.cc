#include "analyze/own_files.h"

#include <algorithm>
#include <fstream>

#include "harness/report/formats.h"

namespace secequiv {
namespace {

namespace fs = std::filesystem;

std::string beginning(const std::string& path) {
  constexpr std::size_t kEnough = 4096;
  std::ifstream file(path, std::ios::binary);
  std::string start(kEnough, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

// Returns whether a file is part of a certificate of this tool. The refutation and the condition
// have no recognizable beginning, so the other files in the same folder are examined.
bool is_certificate(const fs::path& path) {
  const auto is_walk = [&] {
    return beginning(path.parent_path() / "walk.cert").starts_with("secequiv walk certificate");
  };
  const auto is_formula = [&] {
    return beginning(path.parent_path() / "query.cnf").starts_with("c secequiv cnf certificate");
  };
  if (path.filename() == "walk.cert") return is_walk();
  if (path.filename() == "condition.bpf") return is_walk() || is_formula();
  return is_formula();
}

}  // namespace

bool is_report(const std::string& path) {
  const std::string start = beginning(path);
  return std::ranges::any_of(report_formats(),
                             [&](const ReportFormat& form) { return form.begins(start); }) ||
         (start.starts_with("<!DOCTYPE html>") &&
          start.find("<meta name=\"generator\" content=\"secequiv\">") != std::string::npos);
}

std::vector<fs::path> certificate_files(const std::string& folder, bool ours) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const char* name : kCertificateFiles)
    if (const fs::path path = fs::path(folder) / name;
        fs::is_regular_file(path, error) && is_certificate(path) == ours)
      out.push_back(path);
  return out;
}

}  // namespace secequiv
