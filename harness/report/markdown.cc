#include "harness/report/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"

namespace secequiv {
namespace {

using State = ReportedCase::State;

// Returns one line of text that Markdown shows literally, also in a table or on a page that renders
// HTML. The text can neither mention anybody nor link to anything.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : escaped(printable(text, false))) {
    if (std::string_view("\\`*_[]#|~@").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Returns `text` as a code block, with a fence that does not occur in the text.
std::string block(std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string body = printable(text, true);
  if (!body.ends_with('\n')) body += '\n';
  return fence + "text\n" + body + fence + "\n";
}

std::string_view word(State state) {
  switch (state) {
    case State::kPass:
      return "pass";
    case State::kWarning:
      return "warning";
    case State::kFail:
      return "**fail**";
    case State::kUnknown:
      return "**unknown**";
    case State::kSkipped:
      return "skipped";
  }
  return "";
}

}  // namespace

std::string markdown(const ReportedCases& report) {
  std::string out = fmt::format("{}\n### secequiv {}: {}\n\n", kMarkdownMark,
                                literal(report.command), literal(report.limited_verdict()));
  if (!report.direction.empty()) out += fmt::format("**{}**\n\n", literal(report.direction));
  if (!report.subject.empty()) out += fmt::format("{}\n\n", literal(report.subject));
  if (!report.reason.empty()) out += fmt::format("{}\n\n", literal(report.reason));
  if (!report.holds_for.empty()) out += fmt::format("{}\n\n", literal(report.holds_for));
  if (!report.cases.empty()) out += "| examined | result | |\n|---|---|---|\n";
  for (const ReportedCase& one : report.cases) {
    const std::string place = place_text(one);
    const bool ended = !report.completed && one.state == State::kFail;
    out += fmt::format("| {} | {} | {}{} |\n", literal(title_of(one)),
                       ended ? "**error**" : word(one.state), literal(one.message),
                       place.empty() ? "" : " " + literal(place));
  }
  for (const ReportedCase& one : report.cases) {
    if (one.detail.empty()) continue;
    out += fmt::format("\n<details><summary>{}</summary>\n\n{}\n</details>\n",
                       escaped(printable(title_of(one), false)), block(one.detail));
  }
  return out;
}

}  // namespace secequiv
