#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "harness/report/reported.h"

namespace secequiv {

ReportedCases with_existing_files(ReportedCases report) {
  std::map<std::string, bool> known;
  const auto check = [&](std::string& path) {
    std::error_code error;
    const auto [at, added] = known.try_emplace(path, false);
    if (added) at->second = std::filesystem::is_regular_file(path, error);
    if (!at->second) path.clear();
  };
  check(report.file);
  for (ReportedCase& one : report.cases) {
    if (one.place) check(one.place->path);
    if (one.before) check(one.before->path);
    for (auto& steps : one.traces)
      for (ReportedCase::Step& step : steps) check(step.place.path);
  }
  return report;
}

}  // namespace secequiv
