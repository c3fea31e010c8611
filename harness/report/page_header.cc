#include "harness/report/page_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/direction.h"
#include "harness/report/page_tables.h"

namespace secequiv {
namespace {

constexpr std::size_t kMostShown = 10;  // limit for the names shown of one list

std::string folded(std::span<const std::string> names) {
  if (names.size() <= kMostShown + 1) return as_html(comma_separated(names));
  // Without the summary, on paper and without JavaScript, this reads as one list.
  return fmt::format("{}<details open><summary> <span>and {} more</span></summary>, {}</details>",
                     as_html(comma_separated(names.first(kMostShown))), names.size() - kMostShown,
                     as_html(comma_separated(names.subspan(kMostShown))));
}

}  // namespace

std::string title_html(const Page& page) {
  const std::string verdict = std::string(verdict_name(page.verdict)) + page.limits;
  const std::string_view direction = page.direction ? headline(*page.direction) : "";
  const std::string_view comma =
      direction.empty() || page.verdict == Verdict::kDifferent ? "" : ", ";
  return fmt::format("{}{}{}: {} → {}", direction.empty() || !comma.empty() ? as_html(verdict) : "",
                     comma, direction, as_html(page.sides[0].side.name),
                     as_html(page.sides[1].side.name));
}

std::string verdict_html(const Page& page) {
  return fmt::format("<span class=\"verdict\">{}</span>{}", verdict_name(page.verdict),
                     page.limits.empty()
                         ? ""
                         : fmt::format("<span class=\"limits\">{}</span>", as_html(page.limits)));
}

std::string_view tone(const Page& page) {
  const auto is = [](Effect effect) {
    return [effect](const PageRegion& region) { return region.effect == effect; };
  };
  const bool loosens = page.direction && page.direction->loosens();
  if (loosens || std::ranges::any_of(page.regions, is(Effect::kOpened))) return "opened";
  if (page.direction && page.direction->only_stricter()) return "closed";
  if (!page.regions.empty())
    return std::ranges::all_of(page.regions, is(Effect::kClosed)) ? "closed" : "changed";
  if (page.verdict == Verdict::kDifferent) return "changed";
  return exit_code(page.verdict) == 0 ? "good" : "other";
}

std::string direction_html(const Page& page) {
  if (!page.direction || page.direction->empty()) return "";
  return fmt::format("<div id=\"direction\">{}</div>\n",
                     direction_line(*page.direction, page.host, folded));
}

std::string pair_html(const Page& page) {
  return fmt::format(
      "<p id=\"pair\"><span>before</span> <code>{}</code> <span>after</span> <code>{}</code></p>\n",
      as_html(page.sides[0].side.name), as_html(page.sides[1].side.name));
}

std::string interrupted_html(const Page& page) {
  std::string out = page.interrupted ? "<p id=\"interrupted\">The run was interrupted, so parts of "
                                       "this page are missing.</p>\n"
                                     : "";
  for (const PageNote& note : page.notes)
    if (!note.places.empty())
      out += fmt::format("<p class=\"warning\">{}: <a href=\"#notes\">{}</a></p>\n",
                         as_html(note.text), counted(note.places.size(), "part"));
  if (!page.holds_for.empty())
    out += fmt::format("<p class=\"warning\">{}</p>\n", as_html(page.holds_for));
  return out;
}

}  // namespace secequiv
