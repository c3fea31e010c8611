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

// The action in an audit record.
struct ShownRecord {
  const WhyReport& report;
};

void describe(Fields<ShownRecord>& record) {
  record("action", "The action, without data.",
         [](const ShownRecord& it) { return ShownValue{*it.report.recorded}; });
  record("explained", "Whether these filters can return this action for the call.",
         [](const ShownRecord& it) { return it.report.explains_record(); });
}

// A filter, alone or in a stack.
struct ShownFilter {
  const WhyReport::Filter& filter;
  bool in_stack;
};

void describe(Fields<ShownFilter>& filter) {
  filter("name", "Where it came from.", [](const ShownFilter& it) { return it.filter.name; });
  filter("result", "For a stack: what this filter returned.",
         [](const ShownFilter& it) -> std::optional<ShownValue> {
           if (!it.in_stack) return std::nullopt;
           return ShownValue{it.filter.result};
         });
  filter("decides",
         "For a stack: whether its action is the result; if several return that action, the newest "
         "decides.",
         [](const ShownFilter& it) {
           return it.in_stack ? std::optional(it.filter.decides) : std::nullopt;
         });
  filter("rule",
         "For a policy: which rule decided, with the first matching branch of every any_of, or "
         "that no rule did.",
         [](const ShownFilter& it) { return unless_empty(it.filter.rule.text); });
  filter("origin", "Where the policy's file has the rule that decided.",
         [](const ShownFilter& it) { return known(it.filter.rule.position); });
  filter(
      "other_origins",
      "The other rules with this action for this call. They decide for other arguments, or "
      "would decide without that rule.",
      [](const ShownFilter& it) {
        std::vector<RulePosition> out;
        out.reserve(it.filter.rule.others.size());
        for (const PositionRef& one : it.filter.rule.others) out.push_back(*one.at);
        return unless_empty(std::move(out));
      },
      list_of<RulePosition>(1));
  filter(
      "tests", "The two-way instructions executed, and the last instruction executed.",
      [](const ShownFilter& it) { return it.filter.tests; }, list_of<WhyReport::Test>(1));
  if (!filter.for_schema()) return;
  filter.rule(has({"result"}), has({"decides"}));
}

}  // namespace

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

void describe(Fields<WhyReport::Test>& test) {
  test("instruction", "Index of the instruction, from 0.", &WhyReport::Test::pc);
  test("text", "The instruction, and the outcome of a two-way one.", &WhyReport::Test::text);
}

void describe(Fields<WhyReport::Other>& other) {
  using Other = WhyReport::Other;
  other.is("other", "The decision under another condition.");
  other("condition",
        "For example 'with CAP_SYS_ADMIN', 'without CAP_BPF', 'if arg0 != 0x28' or 'on i386'.",
        &Other::condition);
  other("action", "The decision then.", [](const Other& it) { return action_text(it.result); });
  other("origin", "Where the policy's file has the rule that decides then.",
        [](const Other& it) { return known(it.position); });
  other(
      "more_rules", "How many other rules have this action for this call.",
      [](const Other& it) { return unless_zero(it.more_rules); }, at_least(1));
}

void describe(Fields<WhyReport>& report) {
  report.document("why", 1, "secequiv why --json",
                  "The reason for the decision about one system call: the conditions, the rule of "
                  "a policy, and the tests of a program.");
  report("data", "The input.", &WhyReport::data);
  report("headline", "The answer in one line.", [](const WhyReport& it) { return headline(it); });
  report("record", "For a call from an audit record: the action that the record has.",
         [](const WhyReport& it) {
           return it.recorded ? std::optional(ShownRecord{it}) : std::nullopt;
         });
  report.include(&WhyReport::notes);
  report(
      "possible",
      "Present if the call is from an audit record, which has no arguments, and the decision "
      "depends on the arguments: every possible decision, the loosest first.",
      [](const WhyReport& it) { return unless_empty(it.possible); }, list_of<WhyReport::Other>(2));
  report.only_if([](const WhyReport& it) { return it.possible.empty(); });
  report("result", "The decision of all filters together.",
         [](const WhyReport& it) { return ShownValue{it.result}; });
  report("condition",
         "The condition that decided, in the language of --assume: the input meets it, and all "
         "inputs that meet it have this result. 'true': all inputs.",
         &WhyReport::condition);
  report("count", "How many of the 2^512 inputs meet the condition, in decimal.", &WhyReport::count,
         matching("^[1-9][0-9]*$"));
  report(
      "others",
      "Changes that lead to another decision: capabilities of the container first, then "
      "versions of the kernel, then the fewest changed arguments, then other architectures. "
      "Absent if there are none.",
      [](const WhyReport& it) { return unless_empty(it.others); }, list_of<WhyReport::Other>(1));
  report(
      "filters", "Newest first.",
      [](const WhyReport& it) {
        std::vector<ShownFilter> out;
        out.reserve(it.filters.size());
        for (const WhyReport::Filter& one : it.filters) out.push_back({one, it.filters.size() > 1});
        return out;
      },
      list_of<ShownFilter>(1));
  if (!report.for_schema()) return;
  report.rule(has({"possible"}), lacks({"result", "condition", "count", "others", "filters"}),
              has({"result", "condition", "count", "filters"}));
}

}  // namespace secequiv
