#include "harness/report/diff_page.h"

#include <algorithm>
#include <tuple>

namespace secequiv {

Page diff_page(const DiffReport& report, std::string_view how) {
  Page out;
  const auto& changes = report.difference.changes;
  out.verdict = report.verdict;
  if (!changes.empty()) out.direction = report.direction;
  out.host = report.host;
  add_notes(report.notes, out);
  out.text = diff_text(report, how);
  out.difference = changes.empty()
                       ? std::string("no input differs")
                       : count_text(report.difference.count) + " of 2^512 inputs differ";
  const auto all = report.shown();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto shown = all[i];
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const std::vector<Region> calls = by_call(shown[k], kMostSplit);
      for (std::size_t c = 0; c < calls.size(); ++c) {
        PageRegion& row = out.regions.emplace_back(page_region(changes[i], calls[c], report.host));
        if (report.rules.empty()) continue;
        const DiffReport::Rules& region = report.rules[i][k];
        const auto& rules = c < region.of_calls.size() ? region.of_calls[c] : region;
        row.rules[0] = rules.before;
        row.rules[1] = rules.after;
      }
    }
    note_shown(changes[i], shown.size(), out);
  }
  std::ranges::sort(out.regions, {}, [](const PageRegion& row) {
    return std::tuple(row.effect, row.before, row.after, row.call, row.arch, row.condition);
  });
  return out;
}

}  // namespace secequiv
