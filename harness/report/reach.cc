#include "harness/report/reach.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/regions.h"

namespace secequiv {

std::string reach_text(const ReachReport& report, std::string_view how) {
  std::string out;
  for (const ReachReport::Row& row : report.rows) {
    const std::string outcome = row.outcome.empty() ? "" : " " + row.outcome;
    out += fmt::format(
        "{:>6}{:<6} {:<40} {}\n", row.obligation.pc, outcome, row.instruction,
        row.smallest ? fmt::format("{}, for example {}", counted(count_text(row.count), "input"),
                                   describe(*row.smallest))
                     : "infeasible: no input reaches it");
    for (const std::string& region : row.regions) out += fmt::format("         {}\n", region);
    if (report.one) out += not_shown_text(row.regions.size(), row.region_count, 9, how);
  }
  return out;
}

nlohmann::ordered_json to_json(const ReachReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.reach/1"},
                             {"obligations", nlohmann::ordered_json::array()}};
  for (const ReachReport::Row& row : report.rows) {
    auto one = to_json(row.obligation);
    one["count"] = row.count;
    one["region_count"] = row.region_count;
    if (row.smallest) one["smallest"] = to_json(*row.smallest);
    one["regions"] = row.regions;
    out["obligations"].push_back(std::move(one));
  }
  return out;
}

}  // namespace secequiv
