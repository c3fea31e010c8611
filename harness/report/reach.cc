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

void describe(Fields<ReachReport::Row>& row) {
  row.is("reached", "One obligation, and the inputs that reach it.");
  row.include(&ReachReport::Row::obligation);
  row("count",
      "How many of the 2^512 inputs reach it, in decimal. 0 means that it is proven infeasible.",
      &ReachReport::Row::count, decimal());
  row("region_count", "How many disjoint regions these inputs make up, in decimal.",
      &ReachReport::Row::region_count, decimal());
  row("smallest",
      "An input that reaches it, with the fewest non-zero words. Missing if there is none.",
      &ReachReport::Row::smallest);
  row("regions",
      "With --at: the first --max-regions of the regions, as conditions in the language of "
      "--assume.",
      &ReachReport::Row::regions);
  if (!row.for_schema()) return;
  row.rule(is("count", "0"),
           all({is("region_count", "0"), is_empty("regions"), lacks({"smallest"})}),
           has({"smallest"}));
}

void describe(Fields<ReachReport>& report) {
  report.document(
      "reach", 1, "secequiv reach --json",
      "The inputs that reach each instruction of a program and take each outcome of its "
      "two-way instructions.");
  report("obligations",
         "The entries are in the order of the instructions, each instruction before its outcomes; "
         "with --at, there is only one instruction.",
         &ReachReport::rows, list_of<ReachReport::Row>(1));
}

}  // namespace secequiv
