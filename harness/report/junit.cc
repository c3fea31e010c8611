#include "harness/report/junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"

namespace secequiv {
namespace {

using State = ReportedCase::State;

// Returns text that XML 1.0 can contain.
std::string content(std::string_view text) { return escaped(printable(text, true)); }

// In an attribute, an XML parser would read a newline as a blank.
std::string attribute(std::string_view text) {
  std::string out = content(text);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

std::size_t count(const ReportedCases& report, State state) {
  return static_cast<std::size_t>(std::ranges::count(report.cases, state, &ReportedCase::state));
}

std::string test_case(const ReportedCases& report, const ReportedCase& one) {
  std::string out = fmt::format(R"(    <testcase classname="secequiv.{}" name="{}" time="{:.6f}")",
                                attribute(report.command), attribute(title_of(one)), one.seconds);
  const std::string place = place_text(one);
  const std::string body = content((place.empty() ? "" : place + "\n") + one.detail);
  switch (one.state) {
    case State::kPass:
    case State::kWarning:
      return out + fmt::format(">\n      <system-out>{}\n{}</system-out>\n    </testcase>\n",
                               content(one.message), body);
    case State::kSkipped:
      return out + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                               attribute(one.message));
    case State::kFail:
    case State::kUnknown: {
      const bool failure = one.state == State::kFail && one.kind != "error";
      const char* element = failure ? "failure" : "error";
      return out +
             fmt::format(
                 ">\n      <{0} type=\"{1}\" message=\"{2}\">{3}\n{4}</{0}>\n    </testcase>\n",
                 element, attribute(one.kind), attribute(one.message), content(one.message), body);
    }
  }
  return out;
}

}  // namespace

std::string junit(const ReportedCases& report) {
  std::size_t errors = count(report, State::kUnknown);
  std::size_t failures = 0;
  double seconds = 0;
  for (const ReportedCase& one : report.cases) {
    seconds += one.seconds;
    if (one.state == State::kFail) ++(one.kind == "error" ? errors : failures);
  }
  const std::string counts =
      fmt::format(R"(tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.6f}")",
                  report.cases.size(), failures, errors, count(report, State::kSkipped), seconds);
  const auto property = [](const char* name, const std::string& value) {
    return value.empty() ? ""
                         : fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name,
                                       attribute(value));
  };
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"secequiv\" {0}>\n"
      "  <testsuite name=\"secequiv {1}{2}\" {0}>\n    <properties>\n"
      "      <property name=\"verdict\" value=\"{3}\"/>\n"
      "      <property name=\"reason\" value=\"{4}\"/>\n{6}"
      "      <property name=\"exit_status\" value=\"{5}\"/>\n    </properties>\n",
      counts, attribute(report.command),
      report.subject.empty() ? "" : attribute(": " + report.subject), report.verdict_text(),
      attribute(report.limited_reason()), report.exit_status,
      property("direction", report.direction) + property("holds_for", report.holds_for));
  for (const ReportedCase& one : report.cases) out += test_case(report, one);
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace secequiv
