#include "harness/report/page_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "harness/base/paths.h"
#include "harness/base/text.h"
#include "harness/report/cost.h"
#include "harness/report/direction.h"
#include "harness/seccomp/data.h"

namespace secequiv {

std::string as_html(std::string_view text) { return escaped(printable(text, false)); }

namespace {

// Long masks of flags may continue on the next line after each flag.
std::string condition_html(std::string_view text) {
  std::string out;
  for (const char c : as_html(text)) {
    out += c;
    if (c == '|') out += "<wbr>";
  }
  return out;
}

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
  return std::tuple(region.effect, region.call, region.before, region.after,
                    region.rules[0].shown(), region.rules[1].shown());
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

using ShortNames = std::map<std::string, std::string>;  // maps paths of files to short names

ShortNames names_in(const std::vector<PageRegion>& regions) {
  std::set<std::string> paths;
  for (const PageRegion& region : regions)
    for (const RegionRule& rule : region.rules)
      if (rule.rule.position.at) paths.insert(rule.rule.position.at->file);
  return short_names(paths);
}

// Shows a short name; the whole path appears under the mouse.
std::string rule_html(const RegionRule& shown, const ShortNames& names) {
  if (shown.rule.text.empty()) return "";
  RegionRule rule = shown;
  std::string title;
  if (const auto at = rule.rule.position.at; at && names.at(at->file) != at->file) {
    title = fmt::format(" title=\"{}\"", as_html(at->file));
    RulePosition position = *at;
    position.file = names.at(at->file);
    rule.rule.position.at = std::make_shared<const RulePosition>(std::move(position));
  }
  return fmt::format("<small{}>{}</small>", title, as_html(rule.shown()));
}

std::string action_cell(const PageRegion& region, bool second, const ShortNames& names) {
  return cell(second ? "After" : "Before", as_html(second ? region.after : region.before) +
                                               rule_html(region.rules[second ? 1 : 0], names));
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
  if (arches != all) out += fmt::format("<b>{}</b> ", as_html(arches));
  out += condition_html(first.when);
  if (regions.size() == 1 && !first.count.empty())
    out += fmt::format(" <span class=\"count\">{}</span>", counted(as_html(first.count), "input"));
  for (const PageRegion* region : regions)
    if (!region->condition.empty())
      out += fmt::format("<small class=\"cond\">{}</small>", condition_html(region->condition));
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

std::string difference_row(const Row& row, const ShortNames& names) {
  const std::string arches = arches_of(row.regions);
  std::string conditions;
  for (const auto& group : by_words(row.regions)) conditions += condition_item(group, arches);
  std::string call = as_html(row.first.call);
  if (!arches.empty()) call += " <small>" + as_html(arches) + "</small>";
  const std::string_view effect = name_of(row.first.effect);
  return fmt::format("<tr class=\"{}\">{}{}{}{}{}</tr>\n", effect, cell("Effect", effect, "effect"),
                     cell("System call", call, "call"), action_cell(row.first, false, names),
                     action_cell(row.first, true, names),
                     cell("For which inputs", "<ul>" + conditions + "</ul>"));
}

// Returns one card per effect with its number of calls, counted as in the direction line.
std::string difference_cards(const Direction& direction, Arch host) {
  using Parts = std::vector<const Direction::Part*>;
  const std::pair<Effect, Parts> cards[] = {
      {Effect::kOpened, {&direction.allowed, &direction.looser}},
      {Effect::kClosed, {&direction.stricter}},
      {Effect::kChanged, {&direction.changed}}};
  std::string out;
  for (const auto& [effect, parts] : cards) {
    const CallCount count = count_calls(direction, host, parts);
    const bool none = direction.complete && count.calls == "0" && count.others.empty();
    out += fmt::format("<span class=\"card {0}{1}\">{2}<b>{3}</b> call{4} {0}{5}</span> ",
                       name_of(effect), none ? " none" : "", direction.complete ? "" : "at least ",
                       count.calls, count.calls == "1" || count.calls == "every" ? "" : "s",
                       count.others.empty() ? ""
                                            : fmt::format(" <small>and {}</small>",
                                                          fmt::join(count.others, " and ")));
  }
  return "<p class=\"cards\">" + out + "</p>\n";
}

// A cached call executes nothing.
double effective(const CallCost& call) { return call.cached ? 0 : call.mean; }

std::string bar(double value, double most, std::string_view kind) {
  return fmt::format("<span class=\"bar {}\"><span style=\"width:{:.1f}%\"></span></span>", kind,
                     most == 0 ? 0 : 100 * value / most);
}

constexpr std::string_view kDerivedOnly =
    "<p class=\"legend\"><b>~</b> over derived inputs only: the best case may be lower, the worst "
    "case higher</p>\n";

// `exact`: whether the costs cover all inputs. `kind` selects the colour of the bar.
std::string cost_cell(std::string_view column, const CallCost& call, bool exact, double most,
                      std::string_view kind = "") {
  const std::string numbers =
      fmt::format("{} / {:.1f} / {}{}", call.least, call.mean, call.most, exact ? "" : " ~");
  return cell(column,
              bar(effective(call), most, kind) +
                  (call.cached ? fmt::format("0, cached <small>({})</small>", numbers) : numbers),
              "num");
}

std::string change_of(const CallCost& before, const CallCost& after, bool exact) {
  if (before.cached && !after.cached) return "no longer cached: " + ratio(0, after.mean, exact);
  if (!before.cached && after.cached) return fmt::format("cached now: {:.1f} to 0", before.mean);
  return ratio(effective(before), effective(after), exact);
}

// A ratio that is shown as 1.00 gets no colour.
std::string_view kind_of_change(double before, double after) {
  constexpr double kShown = 0.005;
  if (std::abs(after - before) <= kShown * before) return "";
  return after < before ? "less" : "more";
}

// Returns "docker.json, compiled, not optimized, 4246 instructions".
std::string program_text(const CostReport::Side& side) {
  const std::string& made = side.filters.front().compilation;
  return fmt::format("{}{}{}, {}", side.name, made.empty() ? "" : ", ", made,
                     counted(side.instructions(), "instruction"));
}

// Describes the two programs, and how many instructions a call executes on average and at most.
std::string cost_summary(const PageCost& cost) {
  const CostReport::Side& was = cost.report.sides[0];
  const CostReport::Side& is = cost.report.sides[1];
  const bool exact = was.calls_exact() && is.calls_exact();
  const double mean[2] = {weighted_mean(was.calls), weighted_mean(is.calls)};
  const auto worst = [](const CostReport::Side& side) {
    return fmt::format("{}{}", side.worst.instructions, side.worst_exact ? "" : " or more");
  };
  return fmt::format(
      "<p id=\"cost-text\">Before: {}. After: {}. The table counts executed instructions {}; {}. A "
      "call executes "
      "{:.2f} before and {:.2f} after: <b class=\"{}\">{}</b> ({} without the cache). Worst case: "
      "{} before ({}), {} after ({}).</p>\n",
      as_html(program_text(was)), as_html(program_text(is)),
      exact ? "over all inputs" : "over all inputs, except where marked ~", as_html(cost.profile),
      mean[0], mean[1], kind_of_change(mean[0], mean[1]), ratio(mean[0], mean[1], exact),
      ratio(weighted_mean_uncached(was.calls), weighted_mean_uncached(is.calls), exact), worst(was),
      as_html(describe(was.worst.data)), worst(is), as_html(describe(is.worst.data)));
}

std::string joined(Arch arch, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const std::uint32_t nr : numbers) names.push_back(as_html(shown_call(arch, nr)));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string difference_html(const Page& page) {
  std::string out = fmt::format("<p id=\"difference-text\">{}</p>\n", as_html(page.difference));
  if (page.direction && !page.direction->empty())
    out += difference_cards(*page.direction, page.host);
  if (!page.regions.empty()) {
    const std::vector<Row> rows = rows_of(page.regions);
    std::string text;
    const ShortNames names = names_in(page.regions);
    for (const Row& row : rows) text += difference_row(row, names);
    out += filter("difference", "system call, action, condition") +
           table("difference-rows", "Difference",
                 "Effect|System call|Before|After|For which inputs", text);
  }
  return section("difference", "Difference", out);
}

std::string notes_html(const std::vector<PageNote>& notes) {
  if (notes.empty()) return "";
  std::string warnings;
  std::string others;
  for (const PageNote& note : notes) {
    std::string places;
    for (const std::string& place : note.places)
      places += fmt::format("<li><code>{}</code></li>\n", as_html(place));
    (note.warning ? warnings : others) +=
        fmt::format("<li>{}{}</li>\n", as_html(note.text),
                    places.empty() ? "" : ":\n<ul class=\"places\">\n" + places + "</ul>");
  }
  const auto count = std::ranges::count(notes, false, &PageNote::warning);
  std::string out;
  if (!warnings.empty()) out += "<ul class=\"warnings\">\n" + warnings + "</ul>\n";
  if (count != 0)
    out += fmt::format(
        "<details open><summary>{} about how the files were read</summary>\n<ul>\n{}"
        "</ul></details>\n",
        counted(static_cast<std::size_t>(count), "note"), others);
  return section("notes", "Warnings and notes", out);
}

std::string cost_html(const PageCost& cost) {
  const CostReport::Side& was = cost.report.sides[0];
  const CostReport::Side& is = cost.report.sides[1];
  const bool marked = !was.calls_exact() || !is.calls_exact();
  double most = 0;
  for (const CostReport::Side* side : {&was, &is})
    for (const CallCost& call : side->calls) most = std::max(most, effective(call));
  std::string rows;
  for (std::size_t i = 0; i < was.calls.size(); ++i) {
    const CallCost& before = was.calls[i];
    const CallCost& after = is.calls[i];
    const bool exact[2] = {was.exact[i].has_value(), is.exact[i].has_value()};
    const std::string_view kind = kind_of_change(effective(before), effective(after));
    rows += fmt::format("<tr>{}{}{}{}</tr>\n", cell("System call", as_html(before.name)),
                        cost_cell("Before", before, exact[0], most),
                        cost_cell("After", after, exact[1], most, kind),
                        cell("Change", change_of(before, after, exact[0] && exact[1]),
                             fmt::format("num {}", kind)));
  }
  return section("cost", "Cost",
                 cost_summary(cost) +
                     filter("cost", "system call",
                            "<label><input type=\"checkbox\" id=\"cost-changed\"> faster or "
                            "slower</label> ") +
                     std::string(marked ? kDerivedOnly : "") +
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
      "<p>The table counts the system calls that Linux answers by number, without running the "
      "filter.</p>\n" +
          table("cache-rows", "Kernel cache", "Architecture|Before|After|Lost|Gained", rows));
}

std::string provenance_html(const Page& page) {
  if (page.provenance.empty() && page.options.empty() && page.link.empty()) return "";
  std::string out = "<dl>\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", as_html(name), as_html(value));
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
  if (!page.link.empty())
    out +=
        fmt::format("<dt>Link</dt><dd><a href=\"{}\">Compare this pair in the browser</a></dd>\n",
                    as_html(page.link));
  return section("provenance", "Provenance", out + "</dl>\n");
}

}  // namespace secequiv
