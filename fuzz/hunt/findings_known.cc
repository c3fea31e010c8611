// Compares the mistakes behind findings, above all with those of earlier runs: does the mistake of
// an earlier finding explain a failure?
#include <algorithm>
#include <utility>

#include "fuzz/hunt/findings.h"
#include "fuzz/hunt/shape.h"

namespace secequiv::hunt {
namespace {

constexpr int kCopies = 64;               // of a program that shows a mistake
constexpr std::size_t kLongestCopy = 64;  // instructions

}  // namespace

Result<Findings::Explanation> Findings::suspected(Finding& finding) {
  if (finding.known || !groups_by_shape(finding) || !knows_earlier_runs()) return Explanation{};
  Finding rest = finding;
  auto known = explanation(rest, From::kAnyRun);
  if (known && !known->open) finding = std::move(rest);
  return known;
}

bool Findings::shows_known(std::size_t known, const Finding& like, const HuntSubject& subject) {
  if (!causes_[known].mistakes || !causes_[known].mistakes->certain()) return false;
  Finding other = like;
  other.subject = subject;
  const auto shown = tools_.again(other);
  if (!shown || *shown != Shown::kProblem) return false;
  const auto exactly = predicted(known, other);
  return exactly && *exactly == true;
}

Result<std::optional<bool>> Findings::predicted(std::size_t known, const Finding& finding) {
  if (!report_.findings[known].known || causes_[known].kind != FindingKind::kDifferent ||
      !comparable(causes_[known], finding))
    return std::optional<bool>();
  RETURN_IF_ERROR(learn_mistakes(known));
  const Mistakes& mistakes = *causes_[known].mistakes;
  if (!mistakes.certain()) return std::optional<bool>();
  spend(finding.subject);
  const ActsLike acts_like = tools_.behaviour(finding);
  const auto alone = predict(mistakes, finding.subject.before, acts_like);
  if (alone == true) return alone;
  for (std::size_t i = 0; i < causes_.size(); ++i) {
    if (i == known || !report_.findings[i].known || !comparable(causes_[i], finding)) continue;
    RETURN_IF_ERROR(learn_mistakes(i));
    const Mistakes& others = *causes_[i].mistakes;
    if (others.certain() && predict_both(mistakes, others, finding.subject.before, acts_like))
      return std::optional(true);
  }
  return alone;
}

Result<bool> Findings::settle_known(Finding& reduced, Explanation known) {
  if (!knows_earlier_runs()) return false;
  if (!reduced.reduced && !known.by && !out_of_time()) {
    Finding rest = reduced;
    ASSIGN_OR_RETURN(auto now, explanation(rest, From::kAnyRun));
    known = now;
  }
  if (!known.by && (unlearned_ || out_of_time())) known.open = true;
  if (reduced.reduced && !out_of_time()) {
    known = {{}, unlearned_};
    for (std::size_t i = 0; i < causes_.size() && !known.by; ++i) {
      if (!report_.findings[i].known || !comparable(causes_[i], reduced)) continue;
      ASSIGN_OR_RETURN(const auto agrees, compare(i, reduced));
      if (agrees == Agreement::kSame) known.by = i;
      known.open = known.open || agrees == Agreement::kOpen;
    }
  }
  if (known.by && !reduced.reduced && !pattern_decides(known, reduced)) known = {{}, true};
  if (known.by) {
    joined_ = *known.by;
    report_.findings[*known.by].count += reduced.count;
    if (reduced.reduced) prefer(report_.findings[*known.by], std::move(reduced));
    return true;
  }
  reduced.may_be_known = known.open && reduced.failure;
  reduced.failure = reduced.failure && !known.open;
  return false;
}

Result<Agreement> Findings::compare(std::size_t known, const Finding& reduced) {
  Cause& cause = causes_[known];
  const Finding& earlier = report_.findings[known];
  // comparable() has already compared the passes. Two mistakes in one pass may have one cause.
  const Agreement other = reduced.pass.empty() ? Agreement::kOther : Agreement::kOpen;
  ASSIGN_OR_RETURN(const auto shown, shown_without(reduced, cause.pattern));
  const bool alike =
      earlier.group == group_of(reduced) || cause.pattern.same_as(pattern_of(reduced));
  if (shown == Shown::kProblem || (shown == Shown::kNothing && !alike)) {
    ASSIGN_OR_RETURN(const auto explains, mistake_explains(known, reduced));
    return explains ? Agreement::kSame : other;
  }
  // comparable() has already compared the kernel's rule, the lost calls or the crash.
  if (cause.kind != FindingKind::kDifferent) return Agreement::kSame;
  if (cause.recorded && same_answer(*cause.recorded, reduced)) return Agreement::kSame;
  RETURN_IF_ERROR(learn_mistakes(known));
  if (cause.mistakes->refuted) return Agreement::kSame;  // only the pattern can decide
  spend(reduced.subject);
  const ActsLike acts_like = tools_.behaviour(reduced);
  ASSIGN_OR_RETURN(
      const auto mistakes,
      mistakes_of(reduced, Cause{reduced.kind, manner_with_pass(reduced), pattern_of(reduced)},
                  *cause.mistakes));
  if (mistakes.refuted) return Agreement::kSame;  // only the pattern can decide
  const Agreement agrees = agreement(earlier, *cause.mistakes, reduced, mistakes, acts_like);
  return agrees == Agreement::kOther ? other : agrees;
}

Result<Ok> Findings::learn_mistakes(std::size_t known) {
  if (causes_[known].mistakes) return Ok{};
  ASSIGN_OR_RETURN(causes_[known].mistakes,
                   mistakes_of(report_.findings[known], causes_[known], {}));
  return Ok{};
}

Result<bool> Findings::mistake_explains(std::size_t earlier, const Finding& reduced) {
  if (causes_[earlier].kind != FindingKind::kDifferent || !reduced.subject.policy.empty() ||
      !comparable(causes_[earlier], reduced) || much_longer(reduced, report_.findings[earlier]))
    return false;
  RETURN_IF_ERROR(learn_mistakes(earlier));
  const Mistakes& mistakes = *causes_[earlier].mistakes;
  spend(reduced.subject);
  return mistakes.certain() &&
         predict(mistakes, reduced.subject.before, tools_.behaviour(reduced)).value_or(false);
}

Result<Mistakes> Findings::mistakes_of(const Finding& finding, const Cause& cause,
                                       const Mistakes& others) {
  Mistakes out = mistakes_in(finding, tools_.behaviour(finding));
  for (Program& program : with_other_values(finding.subject.before)) {
    if (!out.exact.empty() || !finding.subject.policy.empty()) break;
    Finding other = finding;
    other.subject.before = std::move(program);
    spend(other.subject);
    spend(other.subject);
    ASSIGN_OR_RETURN(const auto shown, tools_.again(other));
    if (shown == Shown::kProblem && other.kind == finding.kind)
      keep_common(out, mistakes_in(other, tools_.behaviour(other)));
  }
  if (out.certain()) {
    ASSIGN_OR_RETURN(const auto predicts, predicts_copies(finding, cause, out, others));
    out.refuted = !predicts;
  }
  return out;
}

Result<bool> Findings::predicts_copies(const Finding& finding, const Cause& cause,
                                       const Mistakes& mistakes, const Mistakes& others) {
  if (!finding.subject.policy.empty()) return true;
  auto copies = given_programs({{finding.subject.name, finding.subject.before}});
  Random random(1);
  for (int i = 0; i < kCopies && !out_of_time(); ++i) {
    Finding other = finding;
    HuntSubject copy = copies->next(random);
    if (copy.before.size() > kLongestCopy) continue;
    ASSIGN_OR_RETURN(const auto shown, send(other, std::move(copy)));
    if (shown != Shown::kProblem || !comparable(cause, other)) continue;
    ASSIGN_OR_RETURN(const auto without, shown_without(other, cause.pattern));
    const ActsLike acts_like = tools_.behaviour(other);
    if (without == Shown::kRight && predict(mistakes, other.subject.before, acts_like) == false &&
        predict(others, other.subject.before, acts_like) == false)
      return false;
  }
  return true;
}

bool Findings::has_known_cause(const Finding& like) const {
  for (std::size_t i = 0; i < causes_.size(); ++i)
    if (report_.findings[i].known && comparable(causes_[i], like)) return true;
  return false;
}

}  // namespace secequiv::hunt
