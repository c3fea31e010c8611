#include "harness/report/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "harness/base/text.h"
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

std::string name_of(const RulePlace& place) {
  if (place.nr == kUnlisted) return "calls without a rule";
  const std::string name(syscall_name(place.arch, place.nr));
  return name.empty() ? fmt::format("{}", place.nr) : name;
}

// Formats a place as "docker.json:812 (syscalls[14]):". Without a position: "rule set 2 (ALLOW),".
std::string place_text(const RulePlace& place) {
  return place.position.at != nullptr
             ? place.position.at->text() + ":"
             : fmt::format("rule set {} ({}),", place.rule_set + 1, describe_action(place.action));
}

// Formats the last indices of a part: those that its position does not already identify.
std::string inner_text(const RulePlace& place, const RulePart& part) {
  std::string out;
  for (std::size_t i = place.located; i < part.size(); ++i)
    out += fmt::format(", part {}", part[i] + 1);
  return out;
}

// Returns what is wrong. `by` names the rule or the action that decides instead, if it has a
// position: "line 57".
std::string fault(const RedundantRule& rule, const std::string& by) {
  switch (rule.kind) {
    case RedundantRule::Kind::kUnmatchable:
      return "no input matches it";
    case RedundantRule::Kind::kShadowed:
      if (by.empty()) return "earlier rule sets decide every call that it matches";
      if (rule.repeats) return "listed twice: " + by + " has the same rule";
      return by + " decides every call that this rule matches";
    case RedundantRule::Kind::kDuplicate:
      if (rule.place.located == rule.part.size() && !by.empty() && rule.originals.size() == 1)
        return "it repeats " + by;
      return fmt::format("it repeats {}{}", parts_text(rule.originals),
                         by.empty() ? "" : fmt::format(" ({})", by));
    case RedundantRule::Kind::kRedundant:
      break;
  }
  if (by.empty()) return "the policy makes the same decisions without it";
  return rule.part.empty() ? "its action is the default action of " + by
                           : by + " matches every call that this entry matches";
}

std::string line_text(const PositionRef& position) {
  return position.at != nullptr ? fmt::format("line {}", position.at->line) : "";
}

constexpr std::string_view kInPart = ", but not in every rule that libseccomp makes of the entry";

// States that every value or no value of a field satisfies a condition.
std::string trivial_text(const DoubtfulRule& rule) {
  const bool always = rule.kind == DoubtfulRule::Kind::kAlwaysTrue;
  return fmt::format("{} value of {} satisfies this condition{}{}", always ? "every" : "no",
                     field_name(rule.field), rule.no_mask ? ", whose mask is 0" : "",
                     rule.in_part ? kInPart
                     : always     ? "; it checks nothing"
                                  : "");
}

std::string lines_text(std::span<const std::size_t> lines) {
  return fmt::format(
      "line{} {}", lines.size() == 1 ? "" : "s",
      first_and_count(lines, kMaxParts, [](std::size_t line) { return std::to_string(line); }));
}

// States that the conditions of several alternatives together admit every value.
std::string together_text(const DoubtfulRule& rule) {
  return fmt::format("the conditions on {} of {} together admit every value{}",
                     field_name(rule.field),
                     rule.lines.empty() ? "its alternatives" : lines_text(rule.lines),
                     rule.in_part ? kInPart : ", so they check nothing");
}

std::string fault(const DoubtfulRule& rule, const std::string& /*by*/) {
  switch (rule.kind) {
    case DoubtfulRule::Kind::kAlwaysTrue:
    case DoubtfulRule::Kind::kNeverTrue:
      return trivial_text(rule);
    case DoubtfulRule::Kind::kTogetherTrue:
      return together_text(rule);
    case DoubtfulRule::Kind::kRepeatedArgument:
      return fmt::format(
          "several tests of {} in one entry are alternatives (OR): one of them suffices",
          field_name(rule.field));
    case DoubtfulRule::Kind::kErrnoZero:
      return "ERRNO(0) returns 0 without running the call, so the program believes that it "
             "succeeded";
    case DoubtfulRule::Kind::kInconsistent:
    case DoubtfulRule::Kind::kMatchAll:
      break;
  }
  const bool one = rule.unchecked.size() == 1;
  if (!rule.lines.empty())
    return fmt::format("line {} checks {}, but {} {} not", rule.lines[0], field_name(rule.field),
                       lines_text(std::span(rule.lines).subspan(1)), one ? "does" : "do");
  const std::string unchecked = parts_text(rule.unchecked);
  if (rule.kind == DoubtfulRule::Kind::kMatchAll)
    return fmt::format("{} check{} nothing, so the others have no effect", unchecked,
                       one ? "s" : "");
  return fmt::format("{} checks {}, but {} {} not", parts_text({rule.checked}),
                     field_name(rule.field), unchecked, one ? "does" : "do");
}

PositionRef original_of(const RedundantRule& rule) { return rule.original; }
PositionRef original_of(const DoubtfulRule& /*rule*/) { return {}; }

// `calls` is "x86_64,i386:read".
template <class Rule>
std::string line(const Rule& rule, std::string_view calls, const std::string& by) {
  return fmt::format("{} {}{}: {}: {}", place_text(rule.place), calls,
                     inner_text(rule.place, rule.part), lint_name(rule.kind), fault(rule, by));
}

template <class Rule>
std::string line(const Rule& rule) {
  const std::string_view arch = arch_info(rule.place.arch).name;
  return line(rule, fmt::format("{}:{}", arch, name_of(rule.place)), line_text(original_of(rule)));
}

std::string line(const UnknownName& unknown) {
  return fmt::format("{}: unknown_name: {}", unknown.position.text(), unknown.problem());
}

ordered_json place_json(std::string_view kind, const RulePlace& place) {
  ordered_json out{
      {"kind", kind}, {"rule_set", place.rule_set + 1}, {"arch", arch_info(place.arch).name}};
  if (place.nr != kUnlisted) out["nr"] = place.nr;
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
  } else if (rule.kind == DoubtfulRule::Kind::kRepeatedArgument) {
    out["field"] = field_name(rule.field);
  } else if (rule.kind != DoubtfulRule::Kind::kMatchAll &&
             rule.kind != DoubtfulRule::Kind::kErrnoZero) {
    out["field"] = field_name(rule.field);
    out["parts"] = from_one(rule.part);
  }
  if (!rule.unchecked.empty()) out["unchecked"] = parts_json(rule.unchecked);
  out["text"] = line(rule);
  return out;
}

// Text for people: one row for all findings that say the same about one entry of a file, however
// many calls and architectures they concern.
struct LintRow {
  std::string text;
  const RulePosition* position;  // may be null
  std::string name;              // its kind and its calls, like "shadowed x86_64:read"
};

// Returns the entry that contains a position, without the line.
std::string entry_text(const PositionRef& position) {
  if (position.at == nullptr) return "";
  const RulePosition& at = *position.at;
  if (at.path.empty()) return at.text();
  return fmt::format("{} ({}, {})", at.file, at.path, at.condition);
}

template <class Rule>
struct SameEntry {
  const Rule* first;
  std::set<Arch> arches = {};
  std::vector<std::string> calls = {};
  bool one_line = true;  // one line decides instead of all of them
};

template <class Rule>
std::vector<SameEntry<Rule>> by_entry(const std::vector<Rule>& rules) {
  std::vector<SameEntry<Rule>> out;
  std::map<std::string, std::size_t> known;  // positions in `out`
  for (const Rule& rule : rules) {
    std::string key = rule.place.position.at != nullptr && !rule.place.position.at->path.empty()
                          ? entry_text(rule.place.position)
                          : place_text(rule.place) + name_of(rule.place);
    key += fmt::format("{}: {}: {}", inner_text(rule.place, rule.part), lint_name(rule.kind),
                       fault(rule, entry_text(original_of(rule))));
    const auto [at, is_new] = known.emplace(std::move(key), out.size());
    if (is_new) out.push_back({&rule});
    SameEntry<Rule>& same = out[at->second];
    same.arches.insert(rule.place.arch);
    if (const std::string call = name_of(rule.place);
        std::ranges::find(same.calls, call) == same.calls.end())
      same.calls.push_back(call);
    same.one_line &= line_text(original_of(*same.first)) == line_text(original_of(rule));
  }
  return out;
}

template <class Rule>
std::vector<LintRow> lint_rows(const std::vector<Rule>& rules) {
  std::vector<LintRow> out;
  for (const SameEntry<Rule>& each : by_entry(rules)) {
    const Rule& first = *each.first;
    const auto text = [&](std::size_t most) {
      std::vector<std::string_view> arches;
      arches.reserve(each.arches.size());
      for (const Arch arch : each.arches) arches.push_back(arch_info(arch).name);
      return fmt::format("{}:{}", fmt::join(arches, ","),
                         first_and_count(each.calls, most, std::identity()));
    };
    const PositionRef original = original_of(first);
    const std::string by =
        each.one_line ? line_text(original) : fmt::format("the entry {}", original.at->path);
    out.push_back({line(first, text(kMaxParts), by), first.place.position.at.get(),
                   fmt::format("{} {}", lint_name(first.kind), text(1))});
  }
  return out;
}

std::vector<LintRow> name_rows(const std::vector<UnknownName>& names, std::string_view prefix) {
  std::vector<LintRow> out;
  out.reserve(names.size());
  for (const UnknownName& name : names)
    out.push_back({fmt::format("{}: {}", prefix, line(name)), &name.position,
                   fmt::format("unknown_name {}", name.name)});
  return out;
}

std::vector<LintRow> lint_errors(const LintReport& report) {
  std::vector<LintRow> out = name_rows(report.errors, "error");
  for (const LoadFailure& failure : report.not_loaded)
    out.push_back(
        {fmt::format("error: {}: not_loaded: {}", failure.position.text(), failure.problem()),
         &failure.position, "not_loaded " + runtimes_text(failure.runtimes)});
  return out;
}

std::vector<LintRow> lint_warnings(const LintReport& report) {
  std::vector<LintRow> out = lint_rows(report.doubtful);
  for (LintRow& row : out) row.text.insert(0, "warning: ");
  std::ranges::move(name_rows(report.unknown, "warning"), std::back_inserter(out));
  return out;
}

// Everything that the text and the cases show.
struct LintRows {
  explicit LintRows(const LintReport& report)
      : together(report.together),
        redundant(lint_rows(report.redundant)),
        errors(lint_errors(report)),
        warnings(lint_warnings(report)) {}

  [[nodiscard]] std::string summary() const {
    std::string out = counted(redundant.size(), "redundant rule");
    if (!errors.empty()) out += ", " + counted(errors.size(), "error");
    if (!warnings.empty()) out += ", " + counted(warnings.size(), "warning");
    if (redundant.size() > 1 && !together)
      out += "; each can be removed alone, but perhaps not all together";
    return out;
  }

  bool together;
  std::vector<LintRow> redundant;
  std::vector<LintRow> errors;
  std::vector<LintRow> warnings;
};

ordered_json names_json(const std::vector<UnknownName>& names) {
  ordered_json out = ordered_json::array();
  for (const UnknownName& unknown : names)
    out.push_back({{"kind", "unknown_name"},
                   {"name", unknown.name},
                   {"origin", to_json(unknown.position)},
                   {"text", line(unknown)}});
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
    case DoubtfulRule::Kind::kRepeatedArgument:
      return "repeated_argument";
    case DoubtfulRule::Kind::kErrnoZero:
      return "errno_zero";
  }
  return {};
}

std::string lint_text(const LintReport& report) {
  const LintRows rows(report);
  std::string out = fmt::format("{}: {}\n", verdict_name(report.verdict()), rows.summary());
  for (const auto* list : {&rows.redundant, &rows.errors, &rows.warnings})
    for (const LintRow& row : *list) out += row.text + "\n";
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
  for (ordered_json& name : names_json(report.unknown)) out["warnings"].push_back(std::move(name));
  if (!report.errors.empty()) out["errors"] = names_json(report.errors);
  add_notes(ReadNotes{report.read_for, report.not_loaded}, out);
  if (report.not_examined != 0) out["not_examined"] = report.not_examined;
  return out;
}

ReportedCases reported(const LintReport& report) {
  const Verdict verdict = report.verdict();
  const LintRows rows(report);
  ReportedCases out{"lint", report.name, verdict, exit_code(verdict), rows.summary(), {}};
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
  for (const auto* list : {&rows.redundant, &rows.errors})
    for (const LintRow& row : *list) add(ReportedCase::State::kFail, row);
  for (const LintRow& row : rows.warnings) add(warned, row);
  conclude(out);
  return out;
}

}  // namespace secequiv
