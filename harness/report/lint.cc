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

std::vector<RulePart> from_one(const std::vector<RulePart>& parts) {
  std::vector<RulePart> out;
  out.reserve(parts.size());
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

// The shape of a part of a rule.
Shape part_shape(std::size_t least = 0) { return list_of(at_least(1), least); }

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

void describe(Fields<RulePlace>& place) {
  place(
      "rule_set",
      "Which rule set of the policy, from 1. Entries of a container profile that the import "
      "leaves out, and the default action, have the number after the last rule set.",
      [](const RulePlace& it) { return it.rule_set + 1; }, at_least(1));
  place("arch", "Architecture of the rule's system call.",
        [](const RulePlace& it) { return arch_info(it.arch).name; });
  place(
      "nr", "Number of the rule's system call. Absent if errno_zero is about the default action.",
      [](const RulePlace& it) -> std::optional<std::uint32_t> {
        if (it.nr == kUnlisted) return std::nullopt;
        return it.nr;
      },
      number32());
  place("origin", "Where the policy's file has the rule or the part.",
        [](const RulePlace& it) { return known(it.position); });
}

void describe(Fields<RedundantRule>& rule) {
  using Kind = RedundantRule::Kind;
  rule.is("redundant_rule",
          "One rule, or part of a rule, that can be removed. Each can be removed alone, but not "
          "necessarily several at once.");
  rule(
      "kind",
      "unmatchable: no input matches it. shadowed: earlier rule sets decide every call that it "
      "matches. redundant: it matches something, but the policy makes the same decisions without "
      "it. duplicate: an equal part stands before it in the same any_of or all_of.",
      [](const RedundantRule& it) { return lint_name(it.kind); },
      names_of(lint_name, Kind::kDuplicate));
  rule.include(&RedundantRule::place);
  rule(
      "parts",
      "The path to the part: the number (from 1) of the child of each any_of or all_of, from the "
      "outside in. Empty: the whole rule.",
      [](const RedundantRule& it) { return from_one(it.part); }, part_shape());
  rule(
      "originals", "The earlier parts that it repeats, each written like 'parts'.",
      [](const RedundantRule& it) -> std::optional<std::vector<RulePart>> {
        if (it.kind != Kind::kDuplicate) return std::nullopt;
        return from_one(it.originals);
      },
      list_of(part_shape(1), 1));
  rule("text", "The finding as the text report shows it.",
       [](const RedundantRule& it) { return line(it); });
  if (!rule.for_schema()) return;
  rule.always(has({"nr"}));
  rule.rule(is("kind", "duplicate"), has({"originals"}), lacks({"originals"}));
}

void describe(Fields<DoubtfulRule>& rule) {
  using Kind = DoubtfulRule::Kind;
  rule.is("doubtful_rule",
          "One rule whose alternatives (the branches of its any_of) do not look at the same "
          "fields, one condition that always or never holds, or one entry that probably means "
          "something else.");
  rule(
      "kind",
      "inconsistent: some alternatives check the field and some do not. match_all: some check "
      "nothing at all, so the others have no effect. always_true: every value of the field "
      "satisfies a condition. never_true: no value does. together_true: every value satisfies a "
      "condition of one of the alternatives. repeated_argument: an entry of a container profile "
      "tests the field several times, so its tests are alternatives. errno_zero: the call returns "
      "0 without running.",
      [](const DoubtfulRule& it) { return lint_name(it.kind); },
      names_of(lint_name, Kind::kErrnoZero));
  rule.include(&DoubtfulRule::place);
  rule(
      "field",
      "For inconsistent, always_true, never_true, together_true and repeated_argument: which "
      "field.",
      [](const DoubtfulRule& it) -> std::optional<std::string> {
        if (it.kind == Kind::kMatchAll || it.kind == Kind::kErrnoZero) return std::nullopt;
        return field_name(it.field);
      },
      words({"arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "ip"}));
  rule(
      "checked",
      "For inconsistent: the first alternative that checks it, written like 'parts' of a "
      "redundant rule.",
      [](const DoubtfulRule& it) -> std::optional<RulePart> {
        if (it.kind != Kind::kInconsistent) return std::nullopt;
        return from_one(it.checked);
      },
      part_shape(1));
  rule(
      "parts",
      "For always_true and never_true: the part with the condition; for together_true: the any_of "
      "with the alternatives. Written like 'parts' of a redundant rule.",
      [](const DoubtfulRule& it) -> std::optional<RulePart> {
        if (it.kind != Kind::kAlwaysTrue && it.kind != Kind::kNeverTrue &&
            it.kind != Kind::kTogetherTrue)
          return std::nullopt;
        return from_one(it.part);
      },
      part_shape());
  rule(
      "unchecked", "The alternatives that do not check it, or check nothing.",
      [](const DoubtfulRule& it) { return unless_empty(from_one(it.unchecked)); },
      list_of(part_shape(1), 1));
  rule("text", "The same in words.", [](const DoubtfulRule& it) { return line(it); });
  if (!rule.for_schema()) return;
  rule.rule(is("kind", "errno_zero"), Json::object(), has({"nr"}));
  rule.rule(is_one_of("kind", {"match_all", "errno_zero"}), lacks({"field"}), has({"field"}));
  rule.rule(is("kind", "inconsistent"), has({"checked"}), lacks({"checked"}));
  rule.rule(is_one_of("kind", {"always_true", "never_true", "together_true"}), has({"parts"}),
            lacks({"parts"}));
  rule.rule(is_one_of("kind", {"inconsistent", "match_all"}), has({"unchecked"}),
            lacks({"unchecked"}));
}

void describe(Fields<UnknownName>& name) {
  name.is("unknown_name", "One name that is unknown and has no effect.");
  name("kind", "", [](const UnknownName&) { return "unknown_name"; }, constant("unknown_name"));
  name("name", "The name of a system call, a key, an architecture or a capability.",
       &UnknownName::name, any_text());
  name("origin", "Where the policy's file has it.", &UnknownName::position);
  name("text", "The same in words.", [](const UnknownName& it) { return line(it); });
}

void describe(Fields<LintReport>& report) {
  report.document("lint", 1, "secequiv lint --json",
                  "The rules of a policy, and the parts of rules, that are proven redundant for "
                  "all inputs. Also warnings about likely mistakes, such as a rule whose "
                  "alternatives check different fields.");
  report(
      "verdict",
      "fail: a rule is redundant, a name is an error or, with strict, there is a warning. Exit "
      "status: 0 for pass, 1 for fail.",
      [](const LintReport& it) { return verdict_name(it.verdict()); }, words({"pass", "fail"}));
  report("strict", "Whether warnings count as failures.", &LintReport::strict);
  report("idle",
         "The findings are in the order of the file. If a rule is listed, its parts are not listed "
         "separately.",
         &LintReport::redundant);
  report(
      "warnings",
      "First the rules, sorted by rule set, system call and field; then the unknown names, in "
      "the order of the file.",
      [](const LintReport& it) {
        std::vector<Json> out;
        out.reserve(it.doubtful.size() + it.unknown.size());
        for (const DoubtfulRule& rule : it.doubtful) out.push_back(to_json(rule));
        for (const UnknownName& name : it.unknown) out.push_back(to_json(name));
        return out;
      },
      list_of(one_of({shapes::shape_of<DoubtfulRule>(), shapes::shape_of<UnknownName>()})));
  report(
      "errors",
      "Unknown names that probably leave open what the author refused: a key that is close to a "
      "known one, a key in a profile without any effective rule, or a call in a profile whose "
      "default action allows. They are failures. The others are warnings.",
      [](const LintReport& it) { return unless_empty(it.errors); }, list_of<UnknownName>(1));
  report.include([](const LintReport& it) { return ReadNotes{it.read_for, it.not_loaded}; });
  report(
      "not_examined",
      "Number of entries of a container profile for other hosts or containers, which were not "
      "examined.",
      [](const LintReport& it) { return unless_zero(it.not_examined); }, at_least(1));
  if (!report.for_schema()) return;
  const Json failures = any({is_filled("idle"), has({"errors"}), has({"not_loaded"})});
  const Json warned = all({is("strict", true), is_filled("warnings")});
  report.rule(is("verdict", "fail"), any({failures, warned}), none({failures, warned}));
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
