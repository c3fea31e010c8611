#include "harness/report/cover.h"

#include <fmt/format.h>

#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv {

Verdict CoverReport::verdict() const {
  if (!feasible.empty()) return Verdict::kFail;
  return open.empty() ? Verdict::kPass : Verdict::kUnknown;
}

void describe(Fields<Feasibility>& feasible) {
  feasible.include(&Feasibility::obligation);
  feasible("witness", "An input that reaches it.",
           [](const Feasibility& it) { return *it.witness; });
}

void describe(Fields<CoverReport>& report) {
  report.document("cover", 1, "secequiv cover --json",
                  "The instructions and outcomes of a program that inputs reach, and those that no "
                  "input can reach.");
  report(
      "verdict",
      "fail: a feasible obligation is not covered. unknown: an obligation is undecided. Exit "
      "status: 0 for pass, 1 for fail, 3 for unknown.",
      [](const CoverReport& it) { return verdict_name(it.verdict()); },
      words({"pass", "fail", "unknown"}));
  report("obligations", "Instructions, and both outcomes of every two-way instruction.",
         &CoverReport::obligations);
  report("covered", "How many of the obligations the inputs covered.", &CoverReport::covered);
  report("infeasible", "Proven infeasible: no input reaches them.", &CoverReport::infeasible);
  report("feasible", "Obligations that are not covered, each with an input that reaches it.",
         &CoverReport::feasible);
  report("open", "Obligations that are neither covered nor decided.", &CoverReport::open);
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
