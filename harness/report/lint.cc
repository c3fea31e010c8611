#include "harness/report/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "harness/base/text.h"
#include "harness/report/alike.h"
#include "harness/report/rule.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxParts = 8;  // how many parts one line names

// Reports and JSON count from 1, not from 0.
std::vector<std::size_t> from_one(const RulePart& part) {
  std::vector<std::size_t> out = part;
  for (std::size_t& child : out) ++child;
  return out;
}

// Formats a part as "2.1". Deep nesting is shortened: "2.1(x28).2".
std::string path_text(const RulePart& part) {
  constexpr std::size_t kShort = 3;
  std::string out;
  for (std::size_t i = 0; i < part.size();) {
    std::size_t end = i;
    while (end < part.size() && part[end] == part[i]) ++end;
    const std::size_t count = end - i > kShort ? end - i : 1;
    out += fmt::format("{}{}", out.empty() ? "" : ".", part[i] + 1);
    if (count > 1) out += fmt::format("(x{})", count);
    i += count;
  }
  return out;
}

// Formats parts as "part 2.1" or "parts 1, 3 and 12 more".
std::string parts_text(const std::vector<RulePart>& parts) {
  return fmt::format("part{} {}", parts.size() == 1 ? "" : "s",
                     first_and_count(parts, kMaxParts, path_text));
}

ordered_json parts_json(const std::vector<RulePart>& parts) {
  auto out = ordered_json::array();
  for (const RulePart& part : parts) out.push_back(from_one(part));
  return out;
}

std::string field_name(int field) { return field == kIpField ? "ip" : fmt::format("arg{}", field); }

// Formats a call as "x86_64,i386:read".
std::string call_text(const RulePlace& place, std::string_view arches) {
  const std::string name(syscall_name(place.arch, place.nr));
  return fmt::format("{}:{}", arches, name.empty() ? fmt::format("{}", place.nr) : name);
}

// Formats a place as "docker.json:812 (syscalls[14]): x86_64,i386:read". Without a position: "rule
// set 2 (ALLOW), x86_64,i386:read".
std::string place_text(const RulePlace& place, std::string_view arches) {
  const std::string where =
      place.position.at != nullptr
          ? place.position.at->text() + ":"
          : fmt::format("rule set {} ({}),", place.rule_set + 1, describe_action(place.action));
  return fmt::format("{} {}", where, call_text(place, arches));
}

// Formats the last indices of a part: those that its position does not already identify.
std::string inner_text(const RulePlace& place, const RulePart& part) {
  std::string out;
  for (std::size_t i = place.located; i < part.size(); ++i)
    out += fmt::format(", part {}", part[i] + 1);
  return out;
}

std::string line(const RedundantRule& rule, std::string_view arches) {
  std::string out = place_text(rule.place, arches);
  out += fmt::format("{}: {}: ", inner_text(rule.place, rule.part), lint_name(rule.kind));
  const RulePosition* by = rule.original.at.get();
  const std::string line = by != nullptr ? fmt::format("line {}", by->line) : "";
  switch (rule.kind) {
    case RedundantRule::Kind::kUnmatchable:
      return out + "no input matches it";
    case RedundantRule::Kind::kShadowed:
      if (by == nullptr) return out + "earlier rule sets decide every call that it matches";
      if (rule.repeats) return out + "listed twice: " + line + " has the same rule";
      return out + line + " decides every call that this rule matches";
    case RedundantRule::Kind::kDuplicate:
      if (rule.place.located == rule.part.size() && by != nullptr && rule.originals.size() == 1)
        return out + "it repeats " + line;
      out += fmt::format("it repeats {}", parts_text(rule.originals));
      return by != nullptr ? out + fmt::format(" ({})", line) : out;
    case RedundantRule::Kind::kRedundant:
      break;
  }
  if (by == nullptr) return out + "the policy makes the same decisions without it";
  return out + (rule.part.empty() ? "its action is the default action of " + line
                                  : line + " matches every call that this entry matches");
}

// States that every value or no value of a field satisfies a condition.
std::string trivial_text(const DoubtfulRule& rule) {
  const bool always = rule.kind == DoubtfulRule::Kind::kAlwaysTrue;
  return fmt::format("{} value of {} satisfies this condition{}{}", always ? "every" : "no",
                     field_name(rule.field), rule.no_mask ? ", whose mask is 0" : "",
                     always ? "; it checks nothing" : "");
}

std::string lines_text(std::span<const std::size_t> lines) {
  return fmt::format(
      "line{} {}", lines.size() == 1 ? "" : "s",
      first_and_count(lines, kMaxParts, [](std::size_t line) { return std::to_string(line); }));
}

// States that the conditions of several alternatives together admit every value.
std::string together_text(const DoubtfulRule& rule) {
  return fmt::format("the conditions on {} of {} together admit every value, so they check nothing",
                     field_name(rule.field),
                     rule.lines.empty() ? "its alternatives" : lines_text(rule.lines));
}

std::string line(const DoubtfulRule& rule, std::string_view arches) {
  const std::string out = fmt::format("{}{}: {}: ", place_text(rule.place, arches),
                                      inner_text(rule.place, rule.part), lint_name(rule.kind));
  if (rule.kind == DoubtfulRule::Kind::kAlwaysTrue || rule.kind == DoubtfulRule::Kind::kNeverTrue)
    return out + trivial_text(rule);
  if (rule.kind == DoubtfulRule::Kind::kTogetherTrue) return out + together_text(rule);
  const bool one = rule.unchecked.size() == 1;
  if (!rule.lines.empty())
    return out + fmt::format("line {} checks {}, but {} {} not", rule.lines[0],
                             field_name(rule.field), lines_text(std::span(rule.lines).subspan(1)),
                             one ? "does" : "do");
  const std::string unchecked = parts_text(rule.unchecked);
  if (rule.kind == DoubtfulRule::Kind::kMatchAll)
    return out + fmt::format("{} check{} nothing, so the others have no effect", unchecked,
                             one ? "s" : "");
  return out + fmt::format("{} checks {}, but {} {} not", parts_text({rule.checked}),
                           field_name(rule.field), unchecked, one ? "does" : "do");
}

template <class Rule>
std::string line(const Rule& rule) {
  return line(rule, arch_info(rule.place.arch).name);
}

std::string line(const UnknownName& unknown) {
  return fmt::format("{}: unknown_name: {}", unknown.position.text(), unknown.problem());
}

ordered_json place_json(std::string_view kind, const RulePlace& place) {
  ordered_json out{{"kind", kind},
                   {"rule_set", place.rule_set + 1},
                   {"arch", arch_info(place.arch).name},
                   {"nr", place.nr}};
  if (place.position.at != nullptr) out["origin"] = to_json(*place.position.at);
  return out;
}

ordered_json finding(const RedundantRule& rule) {
  ordered_json out = place_json(lint_name(rule.kind), rule.place);
  out["parts"] = from_one(rule.part);
  if (rule.kind == RedundantRule::Kind::kDuplicate) out["originals"] = parts_json(rule.originals);
  out["text"] = line(rule);
  return out;
}

ordered_json finding(const DoubtfulRule& rule) {
  ordered_json out = place_json(lint_name(rule.kind), rule.place);
  if (rule.kind == DoubtfulRule::Kind::kInconsistent) {
    out["field"] = field_name(rule.field);
    out["checked"] = from_one(rule.checked);
  } else if (rule.kind != DoubtfulRule::Kind::kMatchAll) {
    out["field"] = field_name(rule.field);
    out["parts"] = from_one(rule.part);
  }
  if (!rule.unchecked.empty()) out["unchecked"] = parts_json(rule.unchecked);
  out["text"] = line(rule);
  return out;
}

// Text for people: one row for each finding, however many architectures it concerns.
struct LintRow {
  std::string text;
  const RulePosition* position;  // may be null
  std::string name;              // its kind and its call, like "shadowed x86_64:read"
};

template <class Rule>
std::vector<LintRow> lint_rows(const std::vector<Rule>& rules) {
  const auto without_arch = [](const Rule& rule) { return line(rule, ""); };
  const auto arch = [](const Rule& rule) { return rule.place.arch; };
  std::vector<LintRow> out;
  for (const Alike<Rule>& each : alike_on_arches(rules, without_arch, arch)) {
    const std::string arches = each.names();
    out.push_back(
        {line(*each.first, arches), each.first->place.position.at.get(),
         fmt::format("{} {}", lint_name(each.first->kind), call_text(each.first->place, arches))});
  }
  return out;
}

std::vector<LintRow> lint_warnings(const LintReport& report) {
  std::vector<LintRow> out = lint_rows(report.doubtful);
  for (const UnknownName& name : report.unknown)
    out.push_back({line(name), &name.position, fmt::format("unknown_name {}", name.name)});
  for (LintRow& row : out) row.text.insert(0, "warning: ");
  return out;
}

std::string summary(std::size_t redundant, std::size_t warnings) {
  std::string out = counted(redundant, "redundant rule");
  if (warnings != 0) out += ", " + counted(warnings, "warning");
  if (redundant > 1) out += "; each can be removed alone, but perhaps not all together";
  return out;
}

}  // namespace

std::string_view lint_name(RedundantRule::Kind kind) {
  switch (kind) {
    case RedundantRule::Kind::kUnmatchable:
      return "unmatchable";
    case RedundantRule::Kind::kShadowed:
      return "shadowed";
    case RedundantRule::Kind::kRedundant:
      return "redundant";
    case RedundantRule::Kind::kDuplicate:
      return "duplicate";
  }
  return {};
}

std::string_view lint_name(DoubtfulRule::Kind kind) {
  switch (kind) {
    case DoubtfulRule::Kind::kInconsistent:
      return "inconsistent";
    case DoubtfulRule::Kind::kMatchAll:
      return "match_all";
    case DoubtfulRule::Kind::kAlwaysTrue:
      return "always_true";
    case DoubtfulRule::Kind::kNeverTrue:
      return "never_true";
    case DoubtfulRule::Kind::kTogetherTrue:
      return "together_true";
  }
  return {};
}

std::string lint_text(const LintReport& report) {
  const auto redundant = lint_rows(report.redundant);
  const auto warnings = lint_warnings(report);
  std::string out = fmt::format("{}: {}\n", verdict_name(report.verdict()),
                                summary(redundant.size(), warnings.size()));
  for (const LintRow& row : redundant) out += row.text + "\n";
  for (const LintRow& row : warnings) out += row.text + "\n";
  return out;
}

ordered_json to_json(const LintReport& report) {
  ordered_json out{{"schema", "secequiv.lint/1"},
                   {"verdict", verdict_name(report.verdict())},
                   {"strict", report.strict},
                   {"idle", ordered_json::array()},
                   {"warnings", ordered_json::array()}};
  for (const RedundantRule& rule : report.redundant) out["idle"].push_back(finding(rule));
  for (const DoubtfulRule& rule : report.doubtful) out["warnings"].push_back(finding(rule));
  for (const UnknownName& unknown : report.unknown)
    out["warnings"].push_back({{"kind", "unknown_name"},
                               {"name", unknown.name},
                               {"origin", to_json(unknown.position)},
                               {"text", line(unknown)}});
  add_read_for(report.read_for, out);
  if (report.not_examined != 0) out["not_examined"] = report.not_examined;
  return out;
}

ReportedCases reported(const LintReport& report) {
  const Verdict verdict = report.verdict();
  const auto redundant = lint_rows(report.redundant);
  const auto warnings = lint_warnings(report);
  ReportedCases out{
      "lint", report.name, verdict, exit_code(verdict), summary(redundant.size(), warnings.size()),
      {}};
  out.holds_for = holds_for(report.read_for);
  if (report.not_examined != 0)
    out.holds_for += fmt::format(
        "; {} for other hosts or containers {} not examined",
        report.not_examined == 1 ? "1 entry" : fmt::format("{} entries", report.not_examined),
        report.not_examined == 1 ? "was" : "were");
  std::map<std::string, std::size_t> alike;
  const auto add = [&](ReportedCase::State state, const LintRow& row) {
    ReportedCase& added = out.cases.emplace_back("lint", state, row.text);
    // Numbers several findings about one call, so that no two have the same name.
    const auto count = ++alike[row.name];
    added.name = row.name + (count > 1 ? fmt::format(" {}", count) : "");
    if (report.file.empty()) return;
    added.place = ReportedCase::Place{report.file, false, {}, {}};
    if (row.position == nullptr) return;
    added.place->path = row.position->file;  // the position may lie in an included file
    added.place->line = static_cast<std::uint32_t>(row.position->line);
  };
  const auto warned = report.strict ? ReportedCase::State::kFail : ReportedCase::State::kWarning;
  for (const LintRow& row : redundant) add(ReportedCase::State::kFail, row);
  for (const LintRow& row : warnings) add(warned, row);
  conclude(out);
  return out;
}

}  // namespace secequiv
