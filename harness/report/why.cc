#include "harness/report/why.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/json.h"
#include "harness/report/regions.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

constexpr std::size_t kShownTests = 12;  // how many tests are shown from either end

std::string tests_text(const std::vector<WhyReport::Test>& tests) {
  std::string out;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (tests.size() > 2 * kShownTests && i == kShownTests) {
      i = tests.size() - kShownTests;
      const std::size_t hidden = i - kShownTests;
      out += fmt::format("          ... {} ...\n", counted(hidden, "more test"));
    }
    const WhyReport::Test& test = tests[i];
    out += fmt::format("  {:>6}: {:<44}{}{}\n", test.pc, test.text,
                       test.comment.empty() ? "" : "; ", test.comment);
  }
  return out;
}

// Formats another decision as "ALLOW with CAP_SYS_ADMIN (docker.json:812)".
std::string other_text(const WhyReport::Other& other) {
  std::string out =
      fmt::format("{} {}", action_text(other.result),
                  short_condition(other.named.empty() ? other.condition : other.named));
  if (const RulePosition* at = other.position.at.get())
    out += fmt::format(" ({}:{}{})", at->file, at->line,
                       other.more_rules == 0
                           ? ""
                           : fmt::format(" and {}", counted(other.more_rules, "other rule")));
  return out;
}

// Returns the reason of the filter that decides. If no rule applies, also names the capabilities
// and kernel versions that would add a rule.
std::string reason_text(const WhyReport& report) {
  const auto& filters = report.filters;
  const auto by = filters.size() == 1
                      ? filters.begin()
                      : std::ranges::find(filters, true, &WhyReport::Filter::decides);
  if (by == filters.end()) return {};
  std::string missing;
  for (const WhyReport::Other& other : report.others) {
    if (!by->rule.by_default || other.missing.empty()) continue;
    constexpr std::string_view kWithout = "without ";
    const bool more = !missing.empty() && other.missing.starts_with(kWithout);
    missing += more ? " or " + other.missing.substr(kWithout.size()) : " " + other.missing;
  }
  return by->reason + missing;
}

// Describes the call, the condition and the rules.
std::string details_text(const WhyReport& report, bool trace) {
  std::string out = fmt::format(
      "{:#010x} {}\nbecause {}\n"
      "        (every input with this condition has the same result: {} in all)\n",
      report.result, describe_action(report.result),
      short_condition(report.named.empty() ? report.condition : report.named),
      count_text(report.count));
  for (const WhyReport::Filter& filter : report.filters) {
    out += filter.name;
    if (report.filters.size() > 1)
      out += fmt::format(": {:#010x} {}{}", filter.result, describe_action(filter.result),
                         filter.decides ? ", which decides" : "");
    out += "\n";
    if (const std::string shown = filter.rule.shown(); !shown.empty()) out += "  " + shown + "\n";
    if (!filter.rule.others.empty())
      out += fmt::format("  other rules for this call with the same action: {}\n",
                         positions_text(filter.rule.others));
    if (trace) out += tests_text(filter.tests);
  }
  return out;
}

std::string record_text(const WhyReport& report) {
  if (!report.recorded) return {};
  return fmt::format(
      "the record's action is {}, which {}\n", action_name(*report.recorded),
      report.explains_record()
          ? "agrees with this filter"
          : "this filter does not return here: the process had another version of it, other "
            "capabilities, or a further filter");
}

}  // namespace

nlohmann::ordered_json others_json(const std::vector<WhyReport::Other>& others) {
  auto out = nlohmann::ordered_json::array();
  for (const WhyReport::Other& other : others) {
    auto& row = out.emplace_back();
    row["condition"] = other.condition;
    row["action"] = action_text(other.result);
    if (other.position.at) row["origin"] = to_json(*other.position.at);
    if (other.more_rules != 0) row["more_rules"] = other.more_rules;
  }
  return out;
}

std::string others_text(const std::vector<WhyReport::Other>& others) {
  std::string out;
  for (const WhyReport::Other& other : others) out += fmt::format("  {}\n", other_text(other));
  return out;
}

bool WhyReport::explains_record() const {
  if (!recorded) return true;
  if (possible.empty()) return action_of(result) == *recorded;
  return std::ranges::any_of(possible, [&](const Other& each) {
    return !each.result.action || each.result.action == *recorded;
  });
}

std::string headline(const WhyReport& report) {
  if (!report.possible.empty()) return std::string(kDependsOnArguments);
  const std::string reason = reason_text(report);
  std::string out = describe_action(report.result);
  if (!reason.empty()) out += ": " + reason;
  if (report.result != SECCOMP_RET_ALLOW && !report.others.empty())
    out += "; it would be " + other_text(report.others.front());
  return out;
}

std::string why_text(const WhyReport& report, bool trace) {
  // If these filters cannot have made the record, the answer is about the wrong filter. Report that
  // first.
  const std::string record = record_text(report);
  std::string out = report.explains_record() ? "" : record;
  out += headline(report) + "\n";
  out += others_text(report.possible);
  const bool first_shown = report.result != SECCOMP_RET_ALLOW || report.others.empty();
  for (const WhyReport::Other& other : report.others)
    if (report.possible.empty() && (&other != report.others.data() || !first_shown))
      out += "  it would be " + other_text(other) + "\n";
  if (report.explains_record()) out += record;
  out += describe(report.data) + "\n";
  if (report.possible.empty()) out += details_text(report, trace);
  return out + holds_for_line(report.notes.read_for);
}

nlohmann::ordered_json to_json(const WhyReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.why/1"}, {"data", to_json(report.data)}};
  out["headline"] = headline(report);
  if (report.recorded)
    out["record"] = {{"action", value_json(*report.recorded)},
                     {"explained", report.explains_record()}};
  add_notes(report.notes, out);
  if (!report.possible.empty()) {
    out["possible"] = others_json(report.possible);
    return out;
  }
  out["result"] = value_json(report.result);
  out["condition"] = report.condition;
  out["count"] = report.count;
  if (!report.others.empty()) out["others"] = others_json(report.others);
  out["filters"] = nlohmann::ordered_json::array();
  for (const WhyReport::Filter& filter : report.filters) {
    nlohmann::ordered_json row{{"name", filter.name}};
    if (report.filters.size() > 1) {
      row["result"] = value_json(filter.result);
      row["decides"] = filter.decides;
    }
    if (!filter.rule.text.empty()) row["rule"] = filter.rule.text;
    if (filter.rule.position.at) row["origin"] = to_json(*filter.rule.position.at);
    for (const PositionRef& one : filter.rule.others)
      row["other_origins"].push_back(to_json(*one.at));
    row["tests"] = nlohmann::ordered_json::array();
    for (const WhyReport::Test& test : filter.tests)
      row["tests"].push_back({{"instruction", test.pc}, {"text", test.text}});
    out["filters"].push_back(std::move(row));
  }
  return out;
}

}  // namespace secequiv
