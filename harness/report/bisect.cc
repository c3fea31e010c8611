#include "harness/report/bisect.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/hunt.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

std::string_view state_name(VersionState state) {
  switch (state) {
    case VersionState::kUntried:
      return "not tried";
    case VersionState::kPass:
      return "pass";
    case VersionState::kFinding:
      return "finding";
    case VersionState::kSkipped:
      return "skipped";
  }
  return "";
}

std::string first_line(std::string_view text) {
  return printable(trimmed(text.substr(0, text.find('\n'))), false);
}

std::string version_line(const VersionAnswer& one, std::size_t width) {
  std::string out = fmt::format("  {:<{}}  {:<9}  {}", printable(one.version, false), width,
                                state_name(one.state), first_line(one.reason));
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

}  // namespace

std::string bisect_text(const BisectReport& report) {
  std::string out;
  if (report.found) out += hunt_text(*report.found) + "\n";
  out += fmt::format("{}: {}\n", report.kind, printable(report.target, false));
  std::size_t width = 0;
  for (const VersionAnswer& one : report.versions)
    width = std::max(width, printable(one.version, false).size());
  for (const VersionAnswer& one : report.versions) out += version_line(one, width);
  if (report.certificate) out += certificate_text(*report.certificate, report.sameness);
  for (const std::string& note : report.notes) out += "note: " + printable(note, false) + "\n";
  return out +
         fmt::format("verdict: {} ({})\n", verdict_name(report.verdict), first_line(report.reason));
}

ordered_json to_json(const BisectReport& report) {
  ordered_json versions = ordered_json::array();
  for (const VersionAnswer& one : report.versions) {
    ordered_json row{{"version", one.version}, {"state", state_name(one.state)}};
    if (!one.reason.empty()) row["reason"] = printable(one.reason, true);
    if (one.same_finding) row["same_finding"] = *one.same_finding;
    versions.push_back(std::move(row));
  }
  ordered_json out{{"schema", "secequiv.bisect/1"},
                   {"verdict", verdict_name(report.verdict)},
                   {"reason", printable(report.reason, true)},
                   {"kind", report.kind},
                   {"target", report.target},
                   {"versions", std::move(versions)}};
  if (report.first) out["first"] = report.versions[*report.first].version;
  if (report.last_pass) out["last_pass"] = report.versions[*report.last_pass].version;
  out["notes"] = report.notes;
  if (report.found) out["found"] = to_json(*report.found);
  if (report.certificate) out["certificate"] = to_json(*report.certificate);
  return out;
}

}  // namespace secequiv
