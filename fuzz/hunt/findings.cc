#include "fuzz/hunt/findings.h"

#include <algorithm>

#include "fuzz/hunt/shape.h"

namespace secequiv::hunt {

Finding Findings::finding(Problem problem, const HuntSubject& subject, std::uint64_t trial,
                          double seconds) const {
  Finding out;
  out.kind = problem.kind;
  out.failure = is_failure(problem.kind) && !options_.allowed.contains(problem.kind);
  out.detail = std::move(problem.detail);
  out.cause = std::move(problem.cause);
  out.found_by = std::move(problem.found_by);
  out.witness = problem.witness;
  out.subject = subject;
  out.original_size = subject.before.size();
  out.trial = trial;
  out.seconds = seconds;
  return out;
}

bool Findings::wants(Finding& finding) {
  failed_ = failed_ || finding.failure;
  // If the group does not depend on the program, one reduction is enough.
  if (!groups_by_shape(finding)) {
    finding.group = group_of(finding);
    if (merge(finding.group)) return false;
  }
  if (reductions_[finding.kind] >= options_.reductions) {
    ++report_.not_reduced;
    return false;
  }
  ++reductions_[finding.kind];
  return true;
}

void Findings::add(Finding reduced) {
  if (groups_by_shape(reduced)) reduced.group = group_of(reduced);
  const auto known = std::ranges::find(report_.findings, reduced.group, &Finding::group);
  if (known == report_.findings.end()) {
    report_.findings.push_back(std::move(reduced));
    if (options_.found) options_.found(report_, report_.findings.back());
    return;
  }
  reduced.count = ++known->count;
  // A group shows the finding that loosens most, and not the one that came first.
  if (!reduced.witness || !known->witness || kind_of(*reduced.witness) >= kind_of(*known->witness))
    return;
  *known = std::move(reduced);
  if (options_.found) options_.found(report_, *known);
}

bool Findings::merge(const std::string& group) {
  const auto at = std::ranges::find(report_.findings, group, &Finding::group);
  if (at == report_.findings.end()) return false;
  ++at->count;
  return true;
}

}  // namespace secequiv::hunt
