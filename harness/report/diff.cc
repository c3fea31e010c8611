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

// A value that a filter computes; only its action is the same for all inputs.
struct ComputedValue {
  std::string action;
};
void describe(Fields<ComputedValue>& value) {
  value.is("computed_value", "A computed value; only its action is the same for all inputs.");
  value("action", "The action.", &ComputedValue::action);
}

Json action_json(const ReturnValue& value) {
  if (!value.value && !value.action) return nullptr;
  if (!value.value) return to_json(ComputedValue{action_text(value)});
  return value_json(*value.value);
}

Shape action_shape() {
  return one_of({null(), shapes::shape_of<ShownValue>(), shapes::shape_of<ComputedValue>()});
}

// A region, perhaps with the rules that decide it.
struct ShownRegion {
  const Change& change;
  const Region& region;
  Arch host;
  const DiffReport::Rules* rules;
};

void describe(Fields<ShownRegion>& region) {
  using Rules = DiffReport::Rules;
  const auto rule = [](RegionRule Rules::* side) {
    return [side](const ShownRegion& it) {
      const RegionRule& found = it.rules->*side;
      return found.rule.text.empty() ? found.rule.shown() : found.rule.text;
    };
  };
  const auto origin = [](RegionRule Rules::* side) {
    return [side](const ShownRegion& it) -> std::optional<RulePosition> {
      const RulePosition* at = (it.rules->*side).rule.position.at.get();
      return at != nullptr ? std::optional(*at) : std::nullopt;
    };
  };
  region.is("region", "All inputs that meet a condition.");
  region("condition", "The condition, in the language of --assume.",
         [](const ShownRegion& it) { return condition_text(it.region, it.host); });
  region(
      "count", "Number of inputs that meet the condition.",
      [](const ShownRegion& it) { return it.region.count; }, decimal());
  region("words",
         "The same condition as sets of values, one for each 32-bit word of seccomp_data that it "
         "restricts. Each of these words must be in its set; all other words may have any value.",
         [](const ShownRegion& it) { return it.region.words; });
  region.only_if([](const ShownRegion& it) { return it.rules != nullptr; });
  region("summary", "With --rules: the effect on callers, in words.",
         [](const ShownRegion& it) { return summary(it.change, it.region, it.host); });
  region("before_rule",
         "With --rules: the rule of the first policy that decides the region's example input.",
         rule(&Rules::before));
  region("after_rule", "With --rules: the same in the second policy.", rule(&Rules::after));
  region("before_origin", "With --rules: where the first policy's file has that rule.",
         origin(&Rules::before));
  region("after_origin", "With --rules: the same in the second policy.", origin(&Rules::after));
  if (!region.for_schema()) return;
  region.rule(has({"summary"}), has({"before_rule", "after_rule"}));
}

// The first regions of a change.
struct ShownChange {
  const Change& change;
  std::vector<ShownRegion> regions;
};

void describe(Fields<ShownChange>& change) {
  change.is("change", "All inputs with the same pair of return values.");
  change(
      "before", "Return value of the first filter; null if it is computed from the input.",
      [](const ShownChange& it) { return action_json(it.change.before); }, action_shape());
  change(
      "after", "Return value of the second filter.",
      [](const ShownChange& it) { return action_json(it.change.after); }, action_shape());
  change(
      "count", "Number of these inputs.",
      [](const ShownChange& it) { return it.change.where.count; }, decimal());
  change(
      "region_count",
      "Number of regions that these inputs form, including regions that are not listed.",
      [](const ShownChange& it) { return it.change.where.region_count; }, decimal());
  change("regions",
         "The first regions; all changes together list at most --max-regions. They are disjoint.",
         &ShownChange::regions);
}

// The difference itself, with at most `most` regions.
struct ShownDifference {
  const DiffReport& report;
  std::size_t most;
  bool rules;  // whether to name the rules of both policies
};

std::vector<ShownChange> shown_changes(const ShownDifference& shown) {
  const DiffReport& report = shown.report;
  std::vector<ShownChange> out;
  const std::vector<std::size_t> counts = allotted(report.difference.changes, shown.most);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const Change& change = report.difference.changes[i];
    ShownChange& added = out.emplace_back(ShownChange{change, {}});
    for (std::size_t k = 0; k < counts[i]; ++k) {
      const bool has = shown.rules && i < report.rules.size() && k < report.rules[i].size();
      added.regions.push_back(
          {change, change.where.regions[k], report.host, has ? &report.rules[i][k] : nullptr});
    }
  }
  return out;
}

void describe(Fields<ShownDifference>& shown) {
  shown("question", "",
        [](const ShownDifference& it) -> const Question& { return it.report.question; });
  shown(
      "count", "Inputs that differ, of 2^512.",
      [](const ShownDifference& it) { return it.report.difference.count; }, decimal());
  shown("changes", "The changes are disjoint. Together they contain all inputs that differ.",
        shown_changes);
}

// A document that --write-expect stores. It has the form of a report.
struct StoredDifference {
  const DiffReport& report;
};

void describe(Fields<StoredDifference>& stored) {
  stored.document("diff", 1, "", "");
  stored("verdict", "", [](const StoredDifference& it) {
    return verdict_name(it.report.difference.changes.empty() ? Verdict::kEquivalent
                                                             : Verdict::kDifferent);
  });
  stored.include(
      [](const StoredDifference& it) { return ShownDifference{it.report, SIZE_MAX, false}; });
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

void describe(Fields<WordSet::Cube>& cube) {
  cube.is("cube", "The values for which (word & mask) == value.");
  cube("mask", "The bits that are compared.", &WordSet::Cube::mask, number32());
  cube("value", "The values of these bits.", &WordSet::Cube::value, number32());
}

void describe(Fields<WordSet>& set) {
  set.is("word_set",
         "Values of one word. If not negated: the values in any of the intervals or cubes. If "
         "negated: the values of the cube 'base' that are in none of the intervals and cubes.");
  set("word", "Index of the word, from 0.", &WordSet::word, between(0, 15));
  set("negated", "Whether the set contains all values except the listed ones.", &WordSet::negated);
  set("base", "Present only if the set is negated.",
      [](const WordSet& it) { return it.negated ? std::optional(it.base) : std::nullopt; });
  set(
      "intervals", "First and last value, both included.",
      [](const WordSet& it) {
        std::vector<std::vector<std::uint32_t>> out;
        out.reserve(it.intervals.size());
        for (const WordSet::Interval& one : it.intervals) out.push_back({one.first, one.last});
        return out;
      },
      list_of(list_of(number32(), 2, 2)));
  set("cubes", "Sets of values that have some bits in common.", &WordSet::cubes);
  if (!set.for_schema()) return;
  set.rule(is("negated", true), has({"base"}), lacks({"base"}));
}

Json stored_json(const DiffReport& report) { return to_json(StoredDifference{report}); }

void describe(Fields<DiffReport>& report) {
  using Report = DiffReport;
  report.document(
      "diff", 1, "secequiv diff --json",
      "All inputs on which two filters, or stacks of filters, return different values, grouped by "
      "the change of the return value. --write-expect stores a document of this form, and "
      "--expect compares with it.");
  report(
      "verdict",
      "With --expect: pass or fail, or unknown if the oracle did not run every example. "
      "Otherwise: equivalent, different, or fail if the oracle contradicts our interpreter. With "
      "--require-whole: unknown if parts of the profiles were not compared. Exit status: 0 for "
      "equivalent and pass, 1 for different and fail, 3 for unknown.",
      [](const Report& it) { return verdict_name(it.verdict); },
      words({"equivalent", "different", "pass", "fail", "unknown"}));
  report.include([](const Report& it) {
    return ShownDifference{it, it.comparison ? SIZE_MAX : it.max_regions, true};
  });
  report("direction", "", [](const Report& it) -> std::optional<ShownDirection> {
    if (it.direction.empty()) return std::nullopt;
    return ShownDirection{it.direction, it.host};
  });
  report(
      "unexpected",
      "Only with --expect: regions that are new (+), and regions that are expected but missing "
      "(-), in words.",
      [](const Report& it) -> std::optional<std::vector<std::string>> {
        if (!it.comparison) return std::nullopt;
        std::vector<std::string> out;
        for (const UnexpectedRegion& one : it.comparison->unexpected) out.push_back(one.line());
        return out;
      },
      list_of(matching("^[+-] .")));
  report.include(&Report::notes);
  report("oracle", "", &Report::oracle);
  if (!report.for_schema()) return;
  report.rule(is_in_doubt(), all({is("verdict", "fail"), lacks({"unexpected"})}));
  report.rule(is("verdict", "equivalent"), all({is_empty("changes"), is("count", "0")}));
  report.rule(is("verdict", "different"), all({is_filled("changes"), none({is("count", "0")})}));
  report.rule(is_one_of("verdict", {"equivalent", "different"}), lacks({"unexpected"}));
  report.rule(is("verdict", "pass"), all({has({"unexpected"}), is_empty("unexpected")}));
  report.rule(is("verdict", "fail"),
              any({is_in_doubt(), all({has({"unexpected"}), is_filled("unexpected")})}));
  report.rule(is("verdict", "unknown"),
              any({has({"not_compared"}), has({"choices"}), has({"unexpected"})}));
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
