#include "analyze/prove_property.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "harness/base/clock.h"

namespace secequiv {
namespace {

// Returns a filter that always returns the clause's bound.
Source bound_of(const Property::Clause& clause) {
  Source out;
  out.name = expected_text(clause);
  out.program = {{kRetK, 0, 0, clause.bound()}};
  return out;
}

// `job` has the filter in `after`, also afterwards: copies of it may be large.
Result<ClauseReport> prove_clause(ProveJob& job, const Property& property,
                                  const Property::Clause& clause) {
  ClauseReport out{property.name, property.file, clause, {}};
  const bool allowed = clause.outcome == Property::Outcome::kAllowed;
  job.before = {bound_of(clause)};
  job.fixed = allowed ? ProveJob::Fixed::kAfter : ProveJob::Fixed::kBefore;
  job.refines = true;
  job.condition = clause.condition;
  if (allowed) std::swap(job.before, job.after);
  auto proven = prove(job);
  if (allowed) std::swap(job.before, job.after);
  if (proven) {
    out.proof = std::move(*proven);
    out.proof.notes.conclude(out.proof.proof.verdict, out.proof.proof.detail);
    return out;
  }
  if (!is_vacuous(proven.error())) return proven.error();
  if (job.assumption.empty())
    return make_error(
        ErrorCode::kParse,
        property.name.empty() ? "" : fmt::format("{}:{}", property.name, clause.line),
        fmt::format("expected a condition that some input satisfies, found '{}'", clause.text));
  out.vacuous = true;
  return out;
}

}  // namespace

Result<PropertyReport> prove_property(PropertyJob job) {
  ProveJob& shared = job.proof;
  if (!shared.elapsed) shared.elapsed = [started = Clock::now()] { return seconds_since(started); };
  PropertyReport report;
  report.subject = shared.subject;
  report.assumed = shared.assumption;
  report.notes = shared.notes;
  if (shared.after.size() == 1) report.file = shared.after.front().file;
  for (const Property& property : job.properties)
    for (const Property::Clause& clause : property.clauses) {
      auto one = prove_clause(shared, property, clause);
      if (!one) return one.error();
      if (one->proof.rejection) {
        report.rejection = one->proof.rejection;
        return report;
      }
      report.clauses.push_back(std::move(*one));
    }
  if (std::ranges::all_of(report.clauses, &ClauseReport::vacuous))
    return usage_error(Subject::kAssumption,
                       "no input of any clause satisfies the assumption, so a proof would mean "
                       "nothing: " +
                           shared.assumption);
  return report;
}

}  // namespace secequiv
