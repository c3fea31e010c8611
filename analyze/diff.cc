#include "analyze/diff.h"

#include <fmt/format.h>

#include <tuple>

#include "analyze/deciding.h"
#include "analyze/direction.h"
#include "analyze/installed.h"
#include "analyze/oracle.h"
#include "analyze/region_rules.h"
#include "harness/report/diff_page.h"
#include "harness/report/expectation.h"
#include "harness/report/page.h"
#include "verify/dd/diff.h"

namespace secequiv {
namespace {

// A difference with more regions can be neither stored nor compared with a stored one.
constexpr std::size_t kMostStored = 100'000;

Question question_of(const DiffJob& job) {
  Question out;
  out.before = views(job.before.filters);
  out.after = views(job.after.filters);
  out.sameness = job.sameness;
  out.assumption = job.assumption;
  out.assumed = job.assumed;
  if (!job.assumption.nodes.empty()) out.endian = arch_info(job.host).endian;
  return out;
}

// Checks that the difference can be stored.
Status is_whole(const Difference& difference) {
  for (const Change& change : difference.changes) {
    if (change.computed())
      return make_error(ErrorCode::kUsage, "diff",
                        "only differences between constant return values can be stored or "
                        "compared, but a program computes a return value from the input (RET A)");
    if (!change.where.is_all(change.where.regions.size()))
      return make_error(ErrorCode::kBudget, "diff",
                        fmt::format("only differences of at most {} regions in each change can be "
                                    "stored or compared, but one change has {}",
                                    kMostStored, change.where.region_count));
  }
  return Ok{};
}

// Returns one input of each listed region.
std::vector<SeccompData> examples(const Difference& difference) {
  std::vector<SeccompData> out;
  for (const Change& change : difference.changes)
    for (const Region& region : change.where.regions) out.push_back(region.example());
  return out;
}

// Names the rule or line that decides the example of a region in one filter. For a policy, it also
// finds out whether the same rule decides the whole region.
class SideRules {
 public:
  SideRules(const Source& source, const dd::Limits& limits) : source_(source) {
    if (source.policy) rules_.emplace(*source.policy, source.program, limits);
  }
  RegionRule of(const Region& region) {
    return rules_ ? rules_->of(region) : RegionRule{deciding_rule(source_, region.example())};
  }

 private:
  const Source& source_;
  std::optional<RegionRules> rules_;
};

std::vector<std::vector<DiffReport::Rules>> rules_of(const DiffReport& report, const DiffJob& job) {
  SideRules before(job.before.filters.front(), job.limits);
  SideRules after(job.after.filters.front(), job.limits);
  std::vector<std::vector<DiffReport::Rules>> out;
  for (const auto shown : report.shown()) {
    auto& row = out.emplace_back();
    for (const Region& region : shown) {
      const auto rules = [&](const Region& part) -> DiffReport::Rules {
        return {before.of(part), after.of(part)};
      };
      row.push_back(rules(region));
      for (const Region& part : by_call(region, kMostSplit))
        row.back().of_calls.push_back(rules(part));
    }
  }
  return out;
}

// Returns the inputs that are in `from`, but not in `what`; `from` itself if a limit is reached.
std::vector<Region> subtract(const std::vector<Region>& from, const std::vector<Region>& what,
                             const DiffReport& report, const dd::Limits& limits) {
  dd::Space space(report.question.programs(), limits);
  dd::Regions regions(space);
  const auto all = [&](const std::vector<Region>& list) {
    dd::NodeId out = dd::Diagrams::kZero;
    for (const Region& region : list) out = space.diagrams().either(regions.set_of(region), out);
    return out;
  };
  const dd::NodeId rest = space.diagrams().both(all(from), space.diagrams().negate(all(what)));
  auto out = regions.list(rest, kMostStored).regions;
  return space.exhausted() ? from : out;
}

// Compares the difference with the expected one. The comparison decides the verdict.
Status compare(const DiffJob::Expected& expected, const dd::Limits& limits, DiffReport& report) {
  const auto without = [&](const auto& from, const auto& what) {
    return subtract(from, what, report, limits);
  };
  ASSIGN_OR_RETURN(auto lines, unexpected(expected.document, expected.file, stored_json(report),
                                          report.host, without));
  const bool nothing_differs = report.difference.changes.empty();
  const bool not_asked = report.oracle && !nothing_differs && report.oracle->not_asked() != nullptr;
  report.verdict = !lines.empty() ? Verdict::kFail : not_asked ? Verdict::kUnknown : Verdict::kPass;
  report.comparison = {expected.file, std::move(lines)};
  return Ok{};
}

}  // namespace

Result<DiffReport> diff(const DiffJob& job) {
  DiffReport report;
  report.subject = fmt::format("{}, {}", job.before.name, job.after.name);
  report.notes = job.notes;
  report.question = question_of(job);
  auto& choices = report.notes.choices;
  choices = under_assumption(std::move(choices), report.question, job.limits);
  report.question = without_choices(std::move(report.question), choices);
  report.host = job.host;
  report.max_regions = job.max_regions;
  report.files = side_files(job.before.filters, job.after.filters);
  const bool whole = job.whole || job.expected;
  auto found =
      dd::diff(report.question, whole ? kMostStored : job.max_regions, job.limits, job.most_bytes);
  if (!found && !choices.empty() && is_vacuous(found.error())) found = Difference{{}, "0"};
  if (!found) return found.error();
  report.difference = std::move(*found);
  if (!whole) opened_first(report.difference.changes);  // stored differences keep their order
  if (!report.difference.changes.empty()) {
    ASSIGN_OR_RETURN(auto direction,
                     find_direction_without_choices(report.question, choices, job.host, job.limits,
                                                    examples(report.difference)));
    report.direction = std::move(direction);
  }
  if (whole) RETURN_IF_ERROR(is_whole(report.difference));
  ASSIGN_OR_RETURN(report.oracle, ask(job.oracle, job.before.filters, job.after.filters,
                                      examples(report.difference)));
  // If the oracle contradicts the interpreter, the verdict is `fail`, whatever else was found.
  if (report.oracle && report.oracle->in_doubt()) {
    report.verdict = Verdict::kFail;
  } else if (job.expected) {
    RETURN_IF_ERROR(compare(*job.expected, job.limits, report));
  } else {
    report.verdict = report.difference.changes.empty() ? Verdict::kEquivalent : Verdict::kDifferent;
  }
  report.verdict = report.notes.concluded(report.verdict);
  if (job.rules && !report.comparison) report.rules = rules_of(report, job);
  return report;
}

Page page(const DiffJob& job, const DiffReport& found, const std::string& version,
          std::string_view how) {
  Page out = diff_page(found, how);
  out.version = version;
  out.sides[0].side.name = job.before.name;
  out.sides[1].side.name = job.after.name;
  return out;
}

}  // namespace secequiv
