#include "harness/report/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  std::vector<std::string> shown;
  for (const RulePart& part : parts)
    if (shown.size() < kMaxParts) shown.push_back(path_text(part));
  return fmt::format(
      "part{} {}{}", parts.size() == 1 ? "" : "s", fmt::join(shown, ", "),
      parts.size() > kMaxParts ? fmt::format(" and {} more", parts.size() - kMaxParts) : "");
}

ordered_json parts_json(const std::vector<RulePart>& parts) {
  auto out = ordered_json::array();
  for (const RulePart& part : parts) out.push_back(from_one(part));
  return out;
}

std::string field_name(int field) { return field == kIpField ? "ip" : fmt::format("arg{}", field); }

// Formats a place as "docker.json:812 (syscalls[14]): x86_64:read". Without a position: "rule set 2
// (ALLOW), x86_64:read".
std::string place_text(const RulePlace& place) {
  const std::string name(syscall_name(place.arch, place.nr));
  const std::string where =
      place.position.at != nullptr
          ? place.position.at->text() + ":"
          : fmt::format("rule set {} ({}),", place.rule_set + 1, describe_action(place.action));
  return fmt::format("{} {}:{}", where, arch_info(place.arch).name,
                     name.empty() ? fmt::format("{}", place.nr) : name);
}

std::string line(const RedundantRule& rule) {
  std::string out = place_text(rule.place);
  for (const std::size_t branch : rule.part) out += fmt::format(", part {}", branch + 1);
  out += fmt::format(": {}: ", lint_name(rule.kind));
  switch (rule.kind) {
    case RedundantRule::Kind::kUnmatchable:
      return out + "no input matches it";
    case RedundantRule::Kind::kShadowed:
      return out + "earlier rule sets decide every call that it matches";
    case RedundantRule::Kind::kDuplicate:
      out += fmt::format("it repeats {}", parts_text(rule.originals));
      if (rule.original.at != nullptr) out += fmt::format(" (line {})", rule.original.at->line);
      return out;
    case RedundantRule::Kind::kRedundant:
      break;
  }
  return out + "the policy decides the same without it";
}

std::string line(const DoubtfulRule& rule) {
  const std::string out = fmt::format("{}: {}: ", place_text(rule.place), lint_name(rule.kind));
  const std::string unchecked = parts_text(rule.unchecked);
  const bool one = rule.unchecked.size() == 1;
  if (rule.kind == DoubtfulRule::Kind::kMatchAll)
    return out + fmt::format("{} check{} nothing, so the others have no effect", unchecked,
                             one ? "s" : "");
  return out + fmt::format("{} checks {}, but {} {} not", parts_text({rule.checked}),
                           field_name(rule.field), unchecked, one ? "does" : "do");
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
  }
  out["unchecked"] = parts_json(rule.unchecked);
  out["text"] = line(rule);
  return out;
}

std::string summary(const LintReport& report) {
  std::string out = counted(report.redundant.size(), "redundant rule");
  if (report.warnings() != 0) out += ", " + counted(report.warnings(), "warning");
  if (report.redundant.size() > 1)
    out += "; each can be removed alone, but perhaps not all together";
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
  return kind == DoubtfulRule::Kind::kMatchAll ? "match_all" : "inconsistent";
}

std::string lint_text(const LintReport& report) {
  std::string out;
  for (const RedundantRule& rule : report.redundant) out += line(rule) + "\n";
  for (const DoubtfulRule& rule : report.doubtful) out += "warning: " + line(rule) + "\n";
  for (const UnknownName& name : report.unknown) out += "warning: " + line(name) + "\n";
  return out + fmt::format("{}: {}\n", verdict_name(report.verdict()), summary(report));
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
    out["unknown_names"].push_back(
        {{"name", unknown.name}, {"origin", to_json(unknown.position)}, {"text", line(unknown)}});
  return out;
}

ReportedCases reported(const LintReport& report) {
  const Verdict verdict = report.verdict();
  ReportedCases out{"lint", report.name, verdict, exit_code(verdict), summary(report), {}};
  const auto add = [&](ReportedCase::State state, std::string text, const RulePosition* position) {
    ReportedCase& added = out.cases.emplace_back("lint", state, std::move(text));
    added.name = fmt::format("{}", out.cases.size());
    if (report.file.empty()) return;
    added.place = ReportedCase::Place{report.file, false, {}, {}};
    if (position == nullptr) return;
    added.place->path = position->file;  // the position may lie in an included file
    added.place->line = static_cast<std::uint32_t>(position->line);
  };
  for (const RedundantRule& rule : report.redundant)
    add(ReportedCase::State::kFail, line(rule), rule.place.position.at.get());
  const auto warned = report.strict ? ReportedCase::State::kFail : ReportedCase::State::kWarning;
  for (const DoubtfulRule& rule : report.doubtful)
    add(warned, "warning: " + line(rule), rule.place.position.at.get());
  for (const UnknownName& unknown : report.unknown)
    add(warned, "warning: " + line(unknown), &unknown.position);
  conclude(out);
  return out;
}

}  // namespace secequiv
