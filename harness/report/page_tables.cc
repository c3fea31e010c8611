#include "harness/report/page_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <tuple>

#include "harness/base/text.h"
#include "harness/report/cost.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

std::string shown(std::string_view text) { return escaped(printable(text, false)); }

std::string_view name_of(Effect effect) {
  return effect == Effect::kOpened ? "opened" : effect == Effect::kClosed ? "closed" : "changed";
}

// On a phone each row is shown as a card, in which each cell carries its column's name.
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

std::string filter(std::string_view id, std::string_view hint, std::string_view more = "") {
  return fmt::format(
      "<p class=\"controls script\"><label>Show only <input id=\"{0}-filter\" type=\"search\" "
      "placeholder=\"{1}\"></label> {2}<span id=\"{0}-count\" role=\"status\"></span></p>\n",
      id, hint, more);
}

std::string section(std::string_view id, std::string_view title, std::string_view content) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, title, content);
}

// The content of one row: regions that differ only in their conditions.
struct Row {
  const PageRegion& first;
  std::vector<const PageRegion*> regions;
};

auto key_of(const PageRegion& region) {
  return std::tie(region.effect, region.call, region.before, region.after, region.rules[0],
                  region.rules[1]);
}

std::vector<Row> rows_of(const std::vector<PageRegion>& regions) {
  std::vector<Row> out;
  for (const PageRegion& region : regions) {
    const auto same = [&](const Row& row) { return key_of(row.first) == key_of(region); };
    const auto known = std::ranges::find_if(out, same);
    if (known == out.end())
      out.push_back({region, {&region}});
    else
      known->regions.push_back(&region);
  }
  return out;
}

std::string action_cell(const PageRegion& region, bool second) {
  std::string out = shown(second ? region.after : region.before);
  const std::string& rule = region.rules[second ? 1 : 0];
  if (!rule.empty()) out += "<small>" + shown(rule) + "</small>";
  return cell(second ? "After" : "Before", out);
}

// Returns the architectures of the regions, each once.
std::string arches_of(std::span<const PageRegion* const> regions) {
  std::vector<std::string> out;
  for (const PageRegion* region : regions)
    if (!region->arch.empty() && std::ranges::count(out, region->arch) == 0)
      out.push_back(region->arch);
  return fmt::format("{}", fmt::join(out, ", "));
}

// Formats regions with the same words. `all` names the row's architectures, which need no
// repetition.
std::string condition_item(std::span<const PageRegion* const> regions, const std::string& all) {
  const PageRegion& first = *regions.front();
  const std::string arches = arches_of(regions);
  std::string out = first.input ? fmt::format("<li data-input=\"{}\">", *first.input) : "<li>";
  if (arches != all) out += fmt::format("<b>{}</b> ", shown(arches));
  out += shown(first.when);
  if (regions.size() == 1 && !first.count.empty())
    out += fmt::format(" <span class=\"count\">{} inputs</span>", shown(first.count));
  for (const PageRegion* region : regions)
    out += fmt::format("<small class=\"cond\">{}</small>", shown(region->condition));
  return out + "</li>";
}

// Groups the regions that have the same words.
std::vector<std::vector<const PageRegion*>> by_words(std::span<const PageRegion* const> regions) {
  std::vector<std::vector<const PageRegion*>> out;
  for (const PageRegion* region : regions) {
    const auto known = std::ranges::find_if(
        out, [&](const auto& group) { return group.front()->when == region->when; });
    (known == out.end() ? out.emplace_back() : *known).push_back(region);
  }
  return out;
}

std::string difference_row(const Row& row) {
  const std::string arches = arches_of(row.regions);
  std::string conditions;
  for (const auto& group : by_words(row.regions)) conditions += condition_item(group, arches);
  std::string call = shown(row.first.call);
  if (!arches.empty()) call += " <small>" + shown(arches) + "</small>";
  const std::string_view effect = name_of(row.first.effect);
  return fmt::format("<tr class=\"{}\">{}{}{}{}{}</tr>\n", effect, cell("Effect", effect, "effect"),
                     cell("System call", call, "call"), action_cell(row.first, false),
                     action_cell(row.first, true),
                     cell("For which inputs", "<ul>" + conditions + "</ul>"));
}

std::string difference_cards(const std::vector<Row>& rows, const std::array<bool, 3>& partial) {
  std::string out;
  for (const Effect effect : {Effect::kOpened, Effect::kClosed, Effect::kChanged}) {
    const auto count =
        std::ranges::count(rows, effect, [](const Row& row) { return row.first.effect; });
    // A row without an architecture stands for several calls.
    const bool more =
        partial[static_cast<std::size_t>(effect)] || std::ranges::any_of(rows, [&](const Row& row) {
          return row.first.effect == effect && row.first.arch.empty();
        });
    out += fmt::format("<span class=\"card {0}{1}\">{2}<b>{3}</b> {0}</span> ", name_of(effect),
                       count == 0 && !more ? " none" : "", more ? "at least " : "", count);
  }
  return "<p class=\"cards\">" + out + "</p>\n";
}

// A cached call executes nothing.
double effective(const CallCost& call) { return call.cached ? 0 : call.mean; }

std::string bar(double value, double most, std::string_view kind) {
  return fmt::format("<span class=\"bar {}\"><span style=\"width:{:.1f}%\"></span></span>", kind,
                     most == 0 ? 0 : 100 * value / most);
}

// `kind` selects the colour of the bar.
std::string cost_cell(std::string_view column, const CallCost& call, double most,
                      std::string_view kind = "") {
  return cell(
      column,
      fmt::format("{}{}", bar(effective(call), most, kind),
                  call.cached ? fmt::format("0, cached <small>({} / {:.1f} / {})</small>",
                                            call.least, call.mean, call.most)
                              : fmt::format("{} / {:.1f} / {}", call.least, call.mean, call.most)),
      "num");
}

std::string change_of(const CallCost& before, const CallCost& after) {
  if (before.cached && !after.cached) return "no longer cached: " + ratio(0, after.mean);
  if (!before.cached && after.cached) return fmt::format("cached now: {:.1f} to 0", before.mean);
  return ratio(effective(before), effective(after));
}

// A ratio that is shown as 1.00 gets no colour.
std::string_view kind_of_change(double before, double after) {
  constexpr double kShown = 0.005;
  if (std::abs(after - before) <= kShown * before) return "";
  return after < before ? "less" : "more";
}

std::string joined(Arch arch, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const std::uint32_t nr : numbers) names.push_back(shown(shown_call(arch, nr)));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string_view tone(const Page& page) {
  const auto is = [](Effect effect) {
    return [effect](const PageRegion& region) { return region.effect == effect; };
  };
  if (page.direction.starts_with("LOOSER") ||
      std::ranges::any_of(page.regions, is(Effect::kOpened)))
    return "opened";
  if (page.direction.starts_with("only stricter")) return "closed";
  if (!page.regions.empty())
    return std::ranges::all_of(page.regions, is(Effect::kClosed)) ? "closed" : "changed";
  if (page.verdict == Verdict::kDifferent) return "changed";
  return exit_code(page.verdict) == 0 ? "good" : "other";
}

std::string direction_html(const Page& page) {
  if (page.direction.empty()) return "";
  return fmt::format("<p id=\"direction\">{}</p>\n", escaped(printable(page.direction, true)));
}

std::string pair_html(const Page& page) {
  return fmt::format(
      "<p id=\"pair\"><span>before</span> <code>{}</code> <span>after</span> <code>{}</code></p>\n",
      shown(page.sides[0].side.name), shown(page.sides[1].side.name));
}

std::string difference_html(const Page& page) {
  std::string out = fmt::format("<p id=\"difference-text\">{}</p>\n", shown(page.difference));
  if (!page.regions.empty()) {
    const std::vector<Row> rows = rows_of(page.regions);
    std::string text;
    for (const Row& row : rows) text += difference_row(row);
    out += difference_cards(rows, page.partial) +
           filter("difference", "system call, action, condition") +
           table("difference-rows", "Difference",
                 "Effect|System call|Before|After|For which inputs", text);
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
    const std::string_view kind = kind_of_change(effective(before), effective(after));
    rows += fmt::format("<tr>{}{}{}{}</tr>\n", cell("System call", shown(before.name)),
                        cost_cell("Before", before, most), cost_cell("After", after, most, kind),
                        cell("Change", change_of(before, after), fmt::format("num {}", kind)));
  }
  const double mean[2] = {weighted_mean(cost.calls[0]), weighted_mean(cost.calls[1])};
  const double uncached[2] = {weighted_mean_uncached(cost.calls[0]),
                              weighted_mean_uncached(cost.calls[1])};
  const std::string text = fmt::format(
      "<p id=\"cost-text\">Before: {}. After: {}. Instructions executed, {}; {}. A call executes "
      "{:.2f} before and {:.2f} after: <b class=\"{}\">{}</b> ({} without the cache). Worst case: "
      "{} before ({}), {} after "
      "({}).</p>\n",
      shown(cost.programs[0]), shown(cost.programs[1]),
      cost.exact[0] && cost.exact[1] ? "over all inputs"
                                     : "only over derived inputs if a limit is reached",
      shown(cost.profile), mean[0], mean[1], kind_of_change(mean[0], mean[1]),
      ratio(mean[0], mean[1]), ratio(uncached[0], uncached[1]), cost.worst[0].instructions,
      shown(describe(cost.worst[0].data)), cost.worst[1].instructions,
      shown(describe(cost.worst[1].data)));
  return section("cost", "Cost",
                 text +
                     filter("cost", "system call",
                            "<label><input type=\"checkbox\" id=\"cost-changed\"> faster or "
                            "slower</label> ") +
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
  if (page.provenance.empty() && page.options.empty()) return "";
  std::string out = "<dl>\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", shown(name), shown(value));
  };
  for (const PageFact& fact : page.provenance) add(fact.name, fact.value);
  for (const bool given : {true, false}) {
    std::vector<std::string> texts;
    for (const PageOption& option : page.options)
      if (option.given == given)
        texts.push_back(option.name + (option.value.empty() ? "" : " " + option.value));
    add(given ? "Options given" : "Options at their defaults",
        texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", ")));
  }
  return section("provenance", "Provenance", out + "</dl>\n");
}

}  // namespace secequiv
