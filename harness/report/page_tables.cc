#include "harness/report/page_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/base/text.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

std::string shown(std::string_view text) { return escaped(printable(text, false)); }

std::string_view name_of(Effect effect) {
  return effect == Effect::kOpened ? "opened" : effect == Effect::kClosed ? "closed" : "changed";
}

// On a phone each row is a card, and each cell shows its column's name.
std::string cell(std::string_view column, std::string_view content, std::string_view kind = "") {
  return fmt::format("<td data-label=\"{}\"{}>{}</td>", column,
                     kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), content);
}

std::string table(std::string_view id, std::string_view name, std::string_view columns,
                  std::string_view rows) {
  std::string heads;
  while (!columns.empty()) {
    const std::size_t end = std::min(columns.find('|'), columns.size());
    heads += fmt::format("<th scope=\"col\">{}</th>", columns.substr(0, end));
    columns.remove_prefix(std::min(end + 1, columns.size()));
  }
  return fmt::format(
      "<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead>"
      "<tr>{}</tr></thead><tbody id=\"{}\">\n{}</tbody></table></div>\n",
      name, heads, id, rows);
}

std::string filter(std::string_view id, std::string_view hint) {
  return fmt::format(
      "<p class=\"controls script\"><label>Show only <input id=\"{0}-filter\" type=\"search\" "
      "placeholder=\"{1}\"></label> <span id=\"{0}-count\" role=\"status\"></span></p>\n",
      id, hint);
}

std::string section(std::string_view id, std::string_view title, std::string_view content) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, title, content);
}

std::string action_cell(const PageRegion& region, bool second) {
  std::string out = shown(second ? region.after : region.before);
  const std::string& rule = region.rules[second ? 1 : 0];
  if (!rule.empty()) out += "<small>" + shown(rule) + "</small>";
  return cell(second ? "After" : "Before", out);
}

std::string region_row(const PageRegion& region) {
  std::vector<std::string> calls;
  for (const std::string& call : region.calls) calls.push_back(shown(call));
  return fmt::format(
      "<tr class=\"{}\"{}>{}{}{}{}{}{}{}</tr>\n", name_of(region.effect),
      region.input ? fmt::format(" data-input=\"{}\"", *region.input) : "",
      cell("Effect", name_of(region.effect), "effect"),
      cell("System call", calls.empty() ? "any" : fmt::format("{}", fmt::join(calls, ", "))),
      action_cell(region, false), action_cell(region, true),
      cell("For which inputs", fmt::format("{}<small class=\"cond\">{}</small>",
                                           shown(region.summary), shown(region.condition))),
      cell("How many", shown(region.count), "num"), cell("Steps", "", "script"));
}

// A cached call executes nothing.
double effective(const CallCost& call) { return call.cached ? 0 : call.mean; }

std::string bar(double value, double most) {
  return fmt::format("<span class=\"bar\"><span style=\"width:{:.1f}%\"></span></span>",
                     most == 0 ? 0 : 100 * value / most);
}

std::string cost_cell(std::string_view column, const CallCost& call, double most) {
  return cell(
      column,
      fmt::format("{}{}", bar(effective(call), most),
                  call.cached ? fmt::format("0, cached <small>({} / {:.1f} / {})</small>",
                                            call.least, call.mean, call.most)
                              : fmt::format("{} / {:.1f} / {}", call.least, call.mean, call.most)),
      "num");
}

std::string ratio(double before, double after) {
  if (before == after) return "1.00";
  return before == 0 ? fmt::format("0 to {:.1f}", after) : fmt::format("{:.2f}", after / before);
}

std::string change_of(const CallCost& before, const CallCost& after) {
  if (before.cached && !after.cached) return "no longer cached: " + ratio(0, after.mean);
  if (!before.cached && after.cached) return fmt::format("cached now: {:.1f} to 0", before.mean);
  return ratio(effective(before), effective(after));
}

std::string_view kind_of_change(double before, double after) {
  return after < before ? "num less" : after > before ? "num more" : "num";
}

std::string joined(Arch arch, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> names;
  for (const std::uint32_t nr : numbers) names.push_back(shown(shown_call(arch, nr)));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string direction_html(const Page& page) {
  if (page.direction.empty()) return "";
  const bool opened = std::ranges::any_of(
      page.regions, [](const PageRegion& region) { return region.effect == Effect::kOpened; });
  return fmt::format("<p id=\"direction\" class=\"{}\">{}</p>\n",
                     opened || page.direction.starts_with("LOOSER") ? "opened" : "",
                     escaped(printable(page.direction, true)));
}

std::string difference_html(const Page& page) {
  std::string out = fmt::format("<p id=\"difference-text\">{}</p>\n", shown(page.difference));
  if (!page.regions.empty()) {
    std::array<std::size_t, 3> counts{};
    std::string rows;
    for (const PageRegion& region : page.regions) {
      ++counts[static_cast<std::size_t>(region.effect)];
      rows += region_row(region);
    }
    out += "<p class=\"cards\">";
    for (const Effect effect : {Effect::kOpened, Effect::kClosed, Effect::kChanged})
      out += fmt::format("<span class=\"card {0}\"><b>{1}</b> {0}</span> ", name_of(effect),
                         counts[static_cast<std::size_t>(effect)]);
    out += "</p>\n" + filter("difference", "system call, action, condition") +
           table("difference-rows", "Difference",
                 "Effect|System call|Before|After|For which inputs|How many|Steps", rows);
  }
  return section("difference", "Difference", out);
}

std::string cost_html(const PageCost& cost) {
  double most = 0;
  for (const auto& calls : cost.calls)
    for (const CallCost& call : calls) most = std::max(most, effective(call));
  std::string rows;
  for (std::size_t i = 0; i < cost.calls[0].size(); ++i) {
    const CallCost& before = cost.calls[0][i];
    const CallCost& after = cost.calls[1][i];
    rows += fmt::format("<tr>{}{}{}{}</tr>\n", cell("System call", shown(before.name)),
                        cost_cell("Before", before, most), cost_cell("After", after, most),
                        cell("Change", change_of(before, after),
                             kind_of_change(effective(before), effective(after))));
  }
  const double mean[2] = {weighted_mean(cost.calls[0]), weighted_mean(cost.calls[1])};
  const double uncached[2] = {weighted_mean_uncached(cost.calls[0]),
                              weighted_mean_uncached(cost.calls[1])};
  const std::string text = fmt::format(
      "<p id=\"cost-text\">Instructions executed, {}; {}. A call executes {:.2f} before and {:.2f} "
      "after: <b class=\"{}\">{}</b> ({} without the cache). Worst case: {} before ({}), {} after "
      "({}).</p>\n",
      cost.exact[0] && cost.exact[1] ? "over all inputs"
                                     : "only over derived inputs if a limit is reached",
      shown(cost.profile), mean[0], mean[1], kind_of_change(mean[0], mean[1]),
      ratio(mean[0], mean[1]), ratio(uncached[0], uncached[1]), cost.worst[0].instructions,
      shown(describe(cost.worst[0].data)), cost.worst[1].instructions,
      shown(describe(cost.worst[1].data)));
  return section("cost", "Cost",
                 text + filter("cost", "system call") +
                     table("cost-rows", "Cost",
                           "System call|Before: least / mean / most|After: least / mean / most|"
                           "Change",
                           rows));
}

std::string cache_html(const std::vector<CacheChange>& changes) {
  if (changes.empty()) return "";
  std::string rows;
  for (const CacheChange& change : changes)
    rows += fmt::format(
        "<tr>{}{}{}{}{}</tr>\n", cell("Architecture", arch_info(change.arch).name),
        cell("Before", std::to_string(change.before.size()), "num"),
        cell("After", std::to_string(change.after.size()), "num"),
        cell("Lost", joined(change.arch, change.lost), change.lost.empty() ? "" : "more"),
        cell("Gained", joined(change.arch, change.gained), change.gained.empty() ? "" : "less"));
  return section(
      "cache", "Kernel cache",
      "<p>System calls that Linux answers by number, without running the filter.</p>\n" +
          table("cache-rows", "Kernel cache", "Architecture|Before|After|Lost|Gained", rows));
}

std::string provenance_html(const Page& page) {
  std::string out = "<dl>\n";
  for (const PageFact& fact : page.provenance)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", shown(fact.name), shown(fact.value));
  return page.provenance.empty() ? "" : section("provenance", "Provenance", out + "</dl>\n");
}

}  // namespace secequiv
