#include "harness/report/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/report/direction.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

ordered_json action_json(const ReturnValue& value) {
  if (!value.value && !value.action) return nullptr;
  if (!value.value) return {{"action", action_text(value)}};
  return value_json(*value.value);
}

ordered_json word_json(const WordSet& set) {
  ordered_json out{{"word", set.word}, {"negated", set.negated}};
  if (set.negated) out["base"] = {{"mask", set.base.mask}, {"value", set.base.value}};
  out["intervals"] = ordered_json::array();
  for (const WordSet::Interval& i : set.intervals) out["intervals"].push_back({i.first, i.last});
  out["cubes"] = ordered_json::array();
  for (const WordSet::Cube& c : set.cubes)
    out["cubes"].push_back({{"mask", c.mask}, {"value", c.value}});
  return out;
}

ordered_json region_json(const Region& region, Arch host) {
  ordered_json out{{"condition", condition_text(region, host)}, {"count", region.count}};
  out["words"] = ordered_json::array();
  for (const WordSet& set : region.words) out["words"].push_back(word_json(set));
  return out;
}

// The document contains at most `most` regions.
ordered_json difference_json(const DiffReport& report, std::size_t most) {
  const Difference& difference = report.difference;
  ordered_json out{{"schema", "secequiv.diff/1"},
                   {"verdict", verdict_name(difference.changes.empty() ? Verdict::kEquivalent
                                                                       : Verdict::kDifferent)},
                   {"question", to_json(report.question)},
                   {"count", difference.count}};
  out["changes"] = ordered_json::array();
  const std::vector<std::size_t> counts = allotted(difference.changes, most);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Change& change = difference.changes[i];
    ordered_json row{{"before", action_json(change.before)},
                     {"after", action_json(change.after)},
                     {"count", change.where.count},
                     {"region_count", change.where.region_count}};
    row["regions"] = ordered_json::array();
    for (const Region& region : std::span(change.where.regions).first(counts[i]))
      row["regions"].push_back(region_json(region, report.host));
    out["changes"].push_back(std::move(row));
  }
  return out;
}

void add_rules(const DiffReport& report, ordered_json& document) {
  for (std::size_t i = 0; i < report.rules.size(); ++i) {
    const Change& change = report.difference.changes[i];
    for (std::size_t k = 0; k < report.rules[i].size(); ++k) {
      auto& row = document["changes"][i]["regions"][k];
      row["summary"] = summary(change, change.where.regions[k], report.host);
      const DiffReport::Rules& rules = report.rules[i][k];
      row["before_rule"] =
          rules.before.rule.text.empty() ? rules.before.rule.shown() : rules.before.rule.text;
      row["after_rule"] =
          rules.after.rule.text.empty() ? rules.after.rule.shown() : rules.after.rule.text;
      if (const auto& at = rules.before.rule.position.at) row["before_origin"] = to_json(*at);
      if (const auto& at = rules.after.rule.position.at) row["after_origin"] = to_json(*at);
    }
  }
}

// Lists the conditions of the regions of each change.
std::string regions_text(const DiffReport& report, std::string_view how) {
  std::string out;
  const auto all = report.shown();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Change& change = report.difference.changes[i];
    const auto conditions = condition_texts(all[i], report.host, Values::kNamed);
    const bool joined = change.where.is_all(all[i].size()) && conditions.size() != all[i].size();
    out += fmt::format("{} -> {}: {} in {}{}\n", action_text(change.before),
                       action_text(change.after), counted(count_text(change.where.count), "input"),
                       counted(change.where.region_count, "region"),
                       joined ? fmt::format(" ({})", counted(conditions.size(), "condition")) : "");
    for (const std::string& condition : conditions) out += fmt::format("  {}\n", condition);
    out += not_shown_text(all[i].size(), change.where.region_count, 2, how);
  }
  return out;
}

// Explains each region, and names the rules that decide it. Regions with the same rules stand
// together.
std::string rules_text(const DiffReport& report, std::string_view how) {
  std::string out;
  for (std::size_t i = 0; i < report.rules.size(); ++i) {
    const Change& change = report.difference.changes[i];
    std::vector<std::pair<std::string, std::vector<Region>>> groups;  // for each pair of rules
    for (std::size_t k = 0; k < report.rules[i].size(); ++k) {
      std::string rules =
          fmt::format("  before: {}\n  after:  {}\n", report.rules[i][k].before.shown(),
                      report.rules[i][k].after.shown());
      auto same = std::ranges::find(groups, rules, [](const auto& group) { return group.first; });
      if (same == groups.end())
        same = groups.emplace(same, std::move(rules), std::vector<Region>());
      same->second.push_back(change.where.regions[k]);
    }
    for (const auto& [rules, regions] : groups) {
      for (const std::string& one : summaries(change, regions, report.host))
        out += short_condition(one) + "\n";
      out += rules;
    }
    out += not_shown_text(report.rules[i].size(), change.where.region_count, 2, how);
  }
  return out;
}

std::string comparison_text(const DiffReport& report) {
  const DiffReport::Comparison& comparison = *report.comparison;
  std::string out;
  for (const UnexpectedRegion& one : comparison.unexpected) out += one.line() + "\n";
  if (report.oracle) out += oracle_text(*report.oracle);
  const std::size_t count = comparison.unexpected.size();
  const auto added = static_cast<std::size_t>(
      std::ranges::count(comparison.unexpected, true, &UnexpectedRegion::added));
  if (count > 0)
    return out + fmt::format("fail: not the same difference as in {}: {} (+), {} missing (-)\n",
                             comparison.file, counted(added, "new region"), count - added);
  const bool not_run =
      report.oracle && report.oracle->not_asked() != nullptr && !report.difference.changes.empty();
  if (not_run)
    return out + fmt::format("unknown: the difference is the expected one, but {} did not run {}\n",
                             report.oracle->who, report.oracle->not_asked()->name);
  return out + fmt::format("{}{}: the difference is the expected one\n",
                           verdict_name(report.verdict), report.notes.limits());
}

// Places each case where the policy's file has the rule: the new rule, or the old one if no rule
// matches any more.
void place_rules(const DiffReport& report, std::size_t most, ReportedCases& out) {
  std::size_t next = 0;
  const std::vector<std::size_t> counts = allotted(report.difference.changes, most);
  for (std::size_t i = 0; i < report.rules.size(); ++i) {
    const RegionList& where = report.difference.changes[i].where;
    const std::size_t shown = counts[i];
    for (std::size_t k = 0; k < std::min(shown, report.rules[i].size()); ++k)
      place_by_rules(out.cases[next + k], report.rules[i][k].on_example());
    next += shown + (where.is_all(shown) ? 0 : 1);
  }
}

ReportedCases compared(const DiffReport& report) {
  const DiffReport::Comparison& comparison = *report.comparison;
  ReportedCases out{"diff",
                    report.subject,
                    report.verdict,
                    exit_code(report.verdict),
                    fmt::format("compared with {}", comparison.file),
                    {}};
  out.file = comparison.file;
  for (const UnexpectedRegion& region : comparison.unexpected) {
    ReportedCase& one =
        out.cases.emplace_back("difference", ReportedCase::State::kFail, region.line());
    one.name = fmt::format("{}", out.cases.size());
  }
  return out;
}

}  // namespace

std::vector<std::span<const Region>> DiffReport::shown() const {
  const std::vector<std::size_t> counts = allotted(difference.changes, max_regions);
  std::vector<std::span<const Region>> out;
  out.reserve(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    out.push_back(std::span(difference.changes[i].where.regions).first(counts[i]));
  return out;
}

std::string diff_text(const DiffReport& report, std::string_view how) {
  std::string first = direction_line(report.direction, report.host);
  if (!first.empty()) first += "\n";
  if (report.comparison) return first + comparison_text(report);
  std::string out = report.rules.empty() ? regions_text(report, how) : rules_text(report, how);
  out += fallback_calls(report.direction, report.host);
  if (report.oracle) out += oracle_text(*report.oracle);
  if (report.oracle && report.oracle->in_doubt()) return out + doubt_text(*report.oracle);
  return first + assuming_text(report.question) + out +
         fmt::format("{}{}: {} of 2^512 inputs {}\n", verdict_name(report.verdict),
                     report.notes.limits(), count_text(report.difference.count),
                     report.question.sameness == Sameness::kEffect
                         ? "are in classes with different effects"
                         : "differ");
}

ordered_json stored_json(const DiffReport& report) { return difference_json(report, SIZE_MAX); }

ordered_json to_json(const DiffReport& report) {
  ordered_json out =
      report.comparison ? stored_json(report) : difference_json(report, report.max_regions);
  out["verdict"] = verdict_name(report.verdict);
  if (!report.direction.empty()) out["direction"] = to_json(ShownDirection{report.direction, report.host});
  if (report.comparison) {
    out["unexpected"] = ordered_json::array();
    for (const UnexpectedRegion& one : report.comparison->unexpected)
      out["unexpected"].push_back(one.line());
  }
  add_rules(report, out);
  add_fields(report.notes, out);
  if (report.oracle) out["oracle"] = to_json(*report.oracle);
  return out;
}

ReportedCases reported(const DiffReport& report, std::size_t most) {
  ReportedCases out = report.comparison
                          ? compared(report)
                          : reported(report.difference, report.question, report.verdict,
                                     report.subject, report.files, most, report.host);
  set_direction(report.direction, report.host, out);
  if (!report.comparison) place_rules(report, most, out);
  if (!out.cases.empty()) out.cases.front().detail += fallback_calls(report.direction, report.host);
  if (report.verdict == report.notes.concluded(Verdict::kEquivalent) &&
      report.verdict == Verdict::kUnknown)
    out.reason = report.notes.reason();
  add_notes(report.notes, out);
  if (report.oracle) add_oracle(out, *report.oracle);
  conclude(out);
  return out;
}

}  // namespace secequiv
