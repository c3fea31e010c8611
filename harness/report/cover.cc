#include "harness/report/cover.h"

#include <fmt/format.h>

#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv {

Verdict CoverReport::verdict() const {
  if (!feasible.empty()) return Verdict::kFail;
  return open.empty() ? Verdict::kPass : Verdict::kUnknown;
}

nlohmann::ordered_json to_json(const CoverReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.cover/1"},
                             {"verdict", verdict_name(report.verdict())},
                             {"obligations", report.obligations},
                             {"covered", report.covered}};
  out["infeasible"] = *shapes::value_of(report.infeasible);
  out["feasible"] = nlohmann::ordered_json::array();
  out["open"] = *shapes::value_of(report.open);
  for (const Feasibility& f : report.feasible) {
    auto row = to_json(f.obligation);
    row["witness"] = to_json(*f.witness);
    out["feasible"].push_back(std::move(row));
  }
  return out;
}

std::string cover_text(const CoverReport& report, ProgramView program) {
  std::string text;
  for (const Feasibility& f : report.feasible)
    text += fmt::format("not covered: {}; this input covers it: {}\n",
                        describe(f.obligation, program), describe(*f.witness));
  constexpr std::size_t kShown = 20;
  text += first_lines(report.open.size(), kShown, "", [&](std::size_t i) {
    return fmt::format("undecided: {}\n", describe(report.open[i], program));
  });
  text += fmt::format(
      "{}: {} of {} obligations covered, {} proven infeasible, {} feasible but not covered, {} "
      "undecided\n",
      verdict_name(report.verdict()), report.covered, report.obligations, report.infeasible.size(),
      report.feasible.size(), report.open.size());
  return text;
}

}  // namespace secequiv
