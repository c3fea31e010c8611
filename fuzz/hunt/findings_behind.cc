// Searches for mistakes behind the pattern of a known one, which explains too much: taking out the
// pattern can also take out what another mistake needs.
#include <bit>
#include <numeric>
#include <utility>

#include "fuzz/hunt/findings.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMuchLonger = 32;  // instructions
constexpr std::size_t kMostLooks = 8;    // at programs of about one length

}  // namespace

bool Findings::much_longer(const Finding& finding, const Finding& than) {
  return finding.subject.policy.empty() &&
         finding.subject.before.size() > than.subject.before.size() + kMuchLonger;
}

bool Findings::hides_another(std::size_t by, const Finding& reduced) const {
  return reduced.reduced && much_longer(reduced, report_.findings[by]);
}

Result<bool> Findings::look_behind(const Finding& finding, std::size_t by) {
  if (finding.kind != FindingKind::kDifferent || !may_look(finding.subject)) return false;
  const std::uint64_t spent = reduced_effort_;
  auto status = finding.subject.policy.empty() ? look_behind_length(finding, by)
                                               : look_behind_arches(finding, by);
  look_effort_ += reduced_effort_ - spent;
  reduced_effort_ = spent;
  return status;
}

Result<bool> Findings::look_behind_length(const Finding& finding, std::size_t by) {
  if (found_by_length_ || !much_longer(finding, report_.findings[by]) ||
      looks_[static_cast<std::size_t>(std::bit_width(finding.subject.before.size()))]++ >=
          kMostLooks)
    return false;
  ASSIGN_OR_RETURN(const auto one, with_one_occurrence(finding, causes_[by].pattern));
  if (!one) return false;
  ASSIGN_OR_RETURN(auto reduced, reduce(*one, [](const HuntSubject&) { return true; }));
  if (!hides_another(by, reduced)) return false;
  found_by_length_ = true;
  add(std::move(reduced));
  return true;
}

Result<bool> Findings::look_behind_arches(const Finding& finding, std::size_t by) {
  if (causes_[by].pattern.arch() != 0) return false;
  // A reduction must not turn the mistake into one of all architectures.
  const auto needs_arch = [&](const HuntSubject& subject) {
    Finding rest = finding;
    Stripped without(subject);
    if (!without.take_out_arches()) return false;
    const auto shown = send(rest, without.subject());
    return shown && *shown == Shown::kRight;
  };
  if (!needs_arch(finding.subject)) return false;
  ASSIGN_OR_RETURN(auto reduced, reduce(finding, needs_arch));
  if (!found_by_arch_.insert(pattern_of(reduced).arch()).second) return false;
  add(std::move(reduced));
  return true;
}

Result<std::optional<Finding>> Findings::with_one_occurrence(const Finding& finding,
                                                             const Pattern& pattern) {
  Finding rest = finding;
  const Stripped given(finding.subject);
  const auto without = [&](std::size_t occurrences) {
    Stripped out = given;
    out.take_out_all(pattern, 0, occurrences);
    return out;
  };
  std::size_t fails = 0;  // without so many occurrences
  std::size_t right = Stripped(given).take_out_all(pattern, 0, kMostAtOnce);
  while (right - fails > 1 && right > 1) {
    const std::size_t middle = std::midpoint(fails, right);
    ASSIGN_OR_RETURN(const auto shown, send(rest, without(middle).subject()));
    if (shown == Shown::kNothing) return std::optional<Finding>();
    (shown == Shown::kRight ? right : fails) = middle;
  }
  Stripped one = without(fails);
  one.take_out_others(pattern, kMostAtOnce);
  ASSIGN_OR_RETURN(const auto shown, send(rest, one.subject()));
  if (shown != Shown::kProblem || rest.kind != finding.kind) return std::optional<Finding>();
  return std::optional(std::move(rest));
}

}  // namespace secequiv::hunt
