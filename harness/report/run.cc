#include "harness/report/run.h"

#include <fmt/format.h>

#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

std::string result_text(std::uint32_t result) {
  return fmt::format("{:#010x} {}\n", result, describe_action(result));
}

}  // namespace

std::string run_text(const RunReport& report) {
  std::string out = describe(report.data) + "\n";
  if (!report.possible.empty())
    return fmt::format("{}{}\n{}", out, kDependsOnArguments, others_text(report.possible));
  for (const RunReport::Filter& filter : report.filters) {
    if (report.steps) out += filter.name + "\n" + trace_text(filter.program, filter.trace);
    if (report.filters.size() > 1) out += filter.name + ": " + result_text(filter.trace.result);
  }
  out += result_text(report.result);
  if (report.oracle) out += oracle_text(*report.oracle);
  return report.verdict() == Verdict::kFail ? out + doubt_text(*report.oracle) : out;
}

nlohmann::ordered_json to_json(const RunReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.run/1"}, {"data", to_json(report.data)}};
  if (!report.possible.empty()) {
    out["possible"] = others_json(report.possible);
    return out;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const RunReport::Filter& filter : report.filters) {
    nlohmann::ordered_json row = to_json(filter.trace);
    row["name"] = filter.name;
    if (!report.steps) row.erase("steps");
    rows.push_back(std::move(row));
  }
  out["filters"] = std::move(rows);
  out["result"] = value_json(report.result);
  if (!report.oracle) return out;
  out["verdict"] = verdict_name(report.verdict());
  out["oracle"] = to_json(*report.oracle);
  return out;
}

}  // namespace secequiv
