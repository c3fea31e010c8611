#include "fuzz/hunt/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuzz/hunt/program_source.h"
#include "fuzz/hunt/shape.h"
#include "fuzz/hunt/spelling.h"
#include "fuzz/hunt/store.h"
#include "harness/policy/json.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostTakenOut = 24;  // steps, before a failure counts as new
constexpr std::uint64_t kPatternEvery = 2;
constexpr std::uint64_t kHangEvery = 16;
constexpr std::string_view kAnotherAnswer = "; the answer: ";  // in the group of a second finding
constexpr int kMostCauses = 4;                                 // in one failing subject
constexpr std::size_t kMostWaiting = 1024;
constexpr std::size_t kMostOfOneMistake = 2;  // findings
// Effort is counted in instructions sent, because a long program takes longer. Counts instead of
// times make a seed give the same findings on every machine.
constexpr std::uint64_t kEffortOfRequest = 64;  // in addition to its instructions
// Reductions get this effort (about 5000 requests), and then as much as the trials.
constexpr std::uint64_t kFirstEffort = 500'000;
constexpr std::uint64_t kExpectedSteps = 64;  // of a reduction

std::uint64_t effort_of(const HuntSubject& subject) {
  return kEffortOfRequest + subject.before.size();
}

bool loosens_more(const Finding& finding, const Finding& than) {
  return finding.witness && than.witness && kind_of(*finding.witness) < kind_of(*than.witness);
}

std::string answer_text(const Finding& finding) {
  if (finding.after) return shape_of(*finding.after);
  return finding.witness ? fmt::format("{:#x}", finding.witness->after) : "";
}

}  // namespace

Finding Findings::finding(Problem problem, const HuntSubject& subject, std::uint64_t trial,
                          double seconds) const {
  Finding out;
  out.kind = problem.kind;
  out.known = known_ && (!known_kind_ || *known_kind_ == problem.kind);
  out.failure = !out.known && counts_as_failure(problem.kind);
  out.detail = std::move(problem.detail);
  out.cause = std::move(problem.cause);
  out.rule = problem.rule;
  out.found_by = std::move(problem.found_by);
  out.witness = problem.witness;
  out.subject = subject;
  if (report_.kind != "compiler") out.subject.policy.clear();
  out.original_size = subject.before.size();
  out.trial = trial;
  out.seconds = seconds;
  return out;
}

Result<Ok> Findings::learn_known(const std::function<Result<Shown>(const KnownSubject&)>& again) {
  for (const KnownSubject& one : options_.known) {
    if (options_.stop && options_.stop()) break;
    unlearned_ = out_of_time();
    if (unlearned_) break;
    known_ = true;
    known_kind_ = one.kind;
    ASSIGN_OR_RETURN(const auto shown, again(one));
    if (shown == Shown::kRight) report_.gone.push_back(one.subject.name);
  }
  known_ = false;
  return Ok{};
}

Result<Ok> Findings::respell(Finding& finding) {
  if (finding.known || finding.subject.policy.empty() || !finding.witness || out_of_time())
    return Ok{};
  auto policy = read_policy(finding.subject.policy, finding.subject.name);
  if (!policy) return Ok{};
  for (const auto& [respelled, same_input] :
       {std::pair(&with_sorted_rules, false), std::pair(&with_strict_tests, true)}) {
    Policy next = respelled(*policy);
    if (next == *policy) continue;
    Finding other = finding;
    ASSIGN_OR_RETURN(const auto shown, send(other, subject_of(finding.subject.name, next)));
    // A mistake that depends on the kind of test affects other inputs in the other spelling.
    if (shown != Shown::kProblem || other.kind != finding.kind || !other.witness ||
        other.witness->before != finding.witness->before ||
        other.witness->after != finding.witness->after ||
        (same_input && other.witness->data != finding.witness->data))
      continue;
    finding = std::move(other);
    *policy = std::move(next);
  }
  return Ok{};
}

Result<Ok> Findings::take(Finding finding) {
  RETURN_IF_ERROR(respell(finding));
  if (!groups_by_shape(finding)) finding.group = group_of(finding);
  Explanation known;
  if (!groups_by_shape(finding) || !out_of_time()) {
    ASSIGN_OR_RETURN(auto done, explained(finding, false));
    if (done) return Ok{};
    ASSIGN_OR_RETURN(auto by, suspected(finding));
    known = by;
    ASSIGN_OR_RETURN(const auto exactly, known.by ? predicted(*known.by, finding)
                                                  : Result<std::optional<bool>>(std::nullopt));
    known.refuted = exactly == false;
    if (exactly == true) report_.findings[*known.by].count += finding.count;
    if (exactly == true || merge_other(finding)) return Ok{};
  }
  const bool has_pattern = has_known_pattern(finding, finding.subject);
  wait({std::move(finding), known, has_pattern});
  if (waiting_.size() > kMostWaiting) {
    leave(waiting_.back());
    waiting_.pop_back();
  }
  return reduce_waiting();
}

Result<std::size_t> Findings::join(Finding reduced, std::optional<std::size_t> earlier) {
  // Each process has the same known findings, although they may show other programs by now.
  for (std::size_t i = 0; i < causes_.size() && reduced.known && !earlier; ++i)
    if (report_.findings[i].known && report_.findings[i].group == reduced.group) earlier = i;
  if (earlier) {
    report_.findings[*earlier].count += reduced.count;
    prefer(report_.findings[*earlier], std::move(reduced));
    return *earlier;
  }
  if (out_of_time()) {
    add(std::move(reduced));
    return joined_;
  }
  if (reduced.may_be_known) {  // settle() decides this again
    reduced.may_be_known = false;
    reduced.failure = counts_as_failure(reduced.kind);
  }
  RETURN_IF_ERROR(settle(std::move(reduced), {}));
  return joined_;
}

// A subject without any known pattern is the most likely to show a new cause, and a short one takes
// the least effort.
void Findings::wait(Waiting waiting) {
  const auto order = [](const Waiting& one) {
    return std::pair(one.has_pattern, one.finding.subject.before.size());
  };
  const auto at = std::ranges::lower_bound(waiting_, order(waiting), {}, order);
  waiting_.insert(at, std::move(waiting));
}

void Findings::tried(const HuntSubject& subject) { searched_ += effort_of(subject); }
void Findings::spend(const HuntSubject& subject) { reduced_effort_ += effort_of(subject); }

Result<Shown> Findings::send(Finding& finding, HuntSubject subject) {
  finding.subject = std::move(subject);
  spend(finding.subject);
  return tools_.again(finding);
}

void Findings::leave(const Waiting& waiting) {
  if (pattern_decides(waiting.known, waiting.finding))
    report_.findings[*waiting.known.by].count += waiting.finding.count;
  else if (waiting.finding.failure)
    ++report_.not_reduced;
}

Result<Ok> Findings::reduce_waiting() {
  while (!waiting_.empty() && !out_of_time() &&
         may_reduce(waiting_.front().finding, waiting_.front().known.by.has_value())) {
    if (options_.stop && options_.stop()) return Ok{};
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    ASSIGN_OR_RETURN(auto done, explained(next.finding, true));
    if (done) continue;
    RETURN_IF_ERROR(reduce_all(std::move(next)));
  }
  return Ok{};
}

Result<Ok> Findings::reduce_all(Waiting waiting) {
  Finding& finding = waiting.finding;
  // A known finding keeps to its own instructions. With others, it could show a new bug.
  const Parts given = finding.known ? parts_of(finding.subject) : Parts{};
  const auto is_foreign = [&](const HuntSubject& subject) {
    return finding.known && has_more(parts_of(subject), given);
  };
  for (int i = 0; i < kMostCauses; ++i) {
    const bool shown = has_known_pattern(finding, finding.subject);
    const auto earlier = waiting.known.refuted ? waiting.known.by : std::nullopt;
    ASSIGN_OR_RETURN(auto reduced, reduce(finding, [&](const HuntSubject& smaller) {
                       return !is_foreign(smaller) &&
                              (shown || !has_known_pattern(finding, smaller)) &&
                              (!earlier || !shows_known(*earlier, finding, smaller));
                     }));
    if (is_foreign(reduced.subject)) return Ok{};
    const bool again = reduced.reduced && groups_by_shape(reduced);
    ASSIGN_OR_RETURN(const auto is_new,
                     settle(std::move(reduced), std::exchange(waiting.known, {})));
    if (!again || !is_new || !may_reduce(finding)) return Ok{};
    const Program tried = finding.subject.before;
    ASSIGN_OR_RETURN(const auto known, explanation(finding, From::kThisRun));
    if (known.by || merge_other(finding) || finding.subject.before == tried) return Ok{};
  }
  return Ok{};
}

Result<bool> Findings::settle(Finding reduced, Explanation known) {
  if (reduced.known || !groups_by_shape(reduced)) return !add(std::move(reduced));
  RETURN_IF_ERROR(respell(reduced));
  // The reduced subject can show what the long one hid: that a known finding explains it.
  Finding rest = reduced;
  ASSIGN_OR_RETURN(const auto explained, explanation(rest, From::kThisRun));
  if (explained.by && !hides_another(*explained.by, reduced)) {
    joined_ = *explained.by;
    report_.findings[joined_].count += reduced.count;
    prefer(report_.findings[joined_], std::move(reduced));
    return false;
  }
  ASSIGN_OR_RETURN(const auto counted, settle_known(reduced, known));
  if (counted) return false;
  const Pattern pattern = pattern_of(reduced);
  std::optional<std::size_t> same;  // the first finding that this one's pattern explains
  for (std::size_t i = 0; i < causes_.size(); ++i) {
    Finding& earlier = report_.findings[i];
    if (earlier.known || causes_[i].same_as || !comparable(causes_[i], reduced)) continue;
    if (!same) {
      ASSIGN_OR_RETURN(const auto explains, mistake_explains(i, reduced));
      // One mistake in an answer can have two causes, so two findings may show it.
      if (explains && ++causes_[i].explained >= kMostOfOneMistake) {
        joined_ = i;
        earlier.count += reduced.count;
        join_failure(earlier, reduced);
        prefer(earlier, std::move(reduced));
        return false;
      }
    }
    ASSIGN_OR_RETURN(const auto shown, shown_without(earlier, pattern));
    if (shown != Shown::kRight) continue;
    if (same) causes_[i].same_as = same;
    same = same.value_or(i);
  }
  if (!same) return !add(std::move(reduced));
  joined_ = *same;
  causes_[*same].pattern = pattern;
  Finding& earlier = report_.findings[*same];
  earlier.count += reduced.count;
  join_failure(earlier, reduced);
  replace(earlier, loosens_more(earlier, reduced) ? earlier : std::move(reduced));
  return true;
}

Result<Shown> Findings::shown_without(const Finding& finding, const Pattern& pattern) {
  Finding rest = finding;
  for (std::size_t way = 0;; ++way) {
    Stripped without(finding.subject);
    if (out_of_time() || !without.take_out(pattern, way)) return Shown::kNothing;
    const auto shown = send(rest, without.subject());
    if (!shown || *shown != Shown::kNothing) return shown;
  }
}

bool Findings::knows_earlier_runs() const {
  return unlearned_ || std::ranges::any_of(report_.findings, &Finding::known);
}

Result<bool> Findings::explained(Finding& finding, bool reduce_looser) {
  // If the group does not depend on the program, one reduction is enough.
  if (!groups_by_shape(finding)) return merge(finding);
  const Finding given = finding;
  ASSIGN_OR_RETURN(const auto known, explanation(finding, From::kThisRun));
  if (!known.by) return merge_other(finding);
  const bool looser = loosens_more(given, report_.findings[*known.by]);
  if (looser && !reduce_looser) return false;
  auto other = look_behind(finding, *known.by);
  if (!other || *other) return other;
  if (looser) {
    ASSIGN_OR_RETURN(auto reduced, reduce(given, [](const HuntSubject&) { return true; }));
    if (hides_another(*known.by, reduced)) {
      add(std::move(reduced));
      return true;
    }
    prefer(report_.findings[*known.by], std::move(reduced));
  }
  report_.findings[*known.by].count += given.count;
  return true;
}

Result<Findings::Explanation> Findings::explanation(Finding& finding, From from) {
  // If even the shortest program crashes the target, no program gets an answer.
  for (std::size_t i = 0; i < causes_.size(); ++i)
    if (finding.kind == FindingKind::kCrashed && !report_.findings[i].known &&
        comparable(causes_[i], finding) && report_.findings[i].subject.before.size() == 1)
      return Explanation{i};
  std::optional<std::size_t> earlier;  // the last finding of an earlier run
  for (std::size_t i = 0; i < kMostTakenOut && !out_of_time(); ++i) {
    std::size_t by = 0;
    ASSIGN_OR_RETURN(const auto shown, without_pattern(finding, from, by));
    if (by < causes_.size() && report_.findings[by].known) earlier = by;
    if (shown == Shown::kRight) return Explanation{earlier ? *earlier : by};
    if (shown == Shown::kNothing) return Explanation{{}, by < causes_.size()};
  }
  return Explanation{{}, true};
}

Result<Shown> Findings::without_pattern(Finding& rest, From from, std::size_t& by) {
  std::size_t open = causes_.size();  // a finding; taking its pattern out showed nothing
  const Stripped given(rest.subject);
  for (by = 0; by < causes_.size(); ++by) {
    if ((from == From::kThisRun && report_.findings[by].known) || !comparable(causes_[by], rest) ||
        !causes_[by].pattern.in(given.parts()))
      continue;
    for (const std::size_t most : {kMostAtOnce, std::size_t{1}})
      for (std::size_t way = 0; !out_of_time(); ++way) {
        Stripped without = given;
        if (without.take_out_all(causes_[by].pattern, way, most) == 0) break;
        open = by;
        Finding next = rest;
        const auto shown = send(next, without.subject());
        if (!shown || *shown == Shown::kRight) return shown;
        // An answer that shows nothing explains nothing: the rest may be unsupported, for example.
        if (*shown == Shown::kNothing) continue;
        rest = std::move(next);
        rest.failure = !rest.known && counts_as_failure(rest.kind);
        return shown;
      }
  }
  by = open;
  return Shown::kNothing;
}

Result<Finding> Findings::reduce(const Finding& finding, const Wanted& wanted) {
  if (!finding.known) reduced_.insert(finding.kind);
  return tools_.reduce(finding, [&](const HuntSubject& smaller) {
    if (!finding.known) spend(smaller);
    return wanted(smaller);
  });
}

Pattern Findings::pattern_of(const Finding& finding) {
  // Values do not matter if the kernel refuses an answer.
  return Pattern(finding.repeated ? finding.subject : HuntSubject{},
                 finding.kind != FindingKind::kRejected);
}

bool Findings::add(Finding reduced) {
  reduced.group = group_of(reduced);
  if (groups_by_shape(reduced)) reduced.shape = shape_of(reduced.subject.before);
  Cause cause{reduced.kind, manner_with_pass(reduced), pattern_of(reduced)};
  const bool foreign = foreign_value(reduced);
  for (std::size_t i = 0; i < causes_.size(); ++i) {
    Finding& known = report_.findings[i];
    // settle() has compared a wrong answer with those of earlier runs.
    if (known.known && reduced.kind == FindingKind::kDifferent && groups_by_shape(reduced) &&
        !(reduced.known && same_answer(known, reduced)))
      continue;
    const bool same_pattern = reduced.repeated && reduced.kind == causes_[i].kind &&
                              comparable(causes_[i], reduced) && !much_longer(reduced, known) &&
                              causes_[i].pattern.same_as(cause.pattern);
    const bool same_value = causes_[i].foreign_value.value_or(foreign) == foreign;
    const bool same = (same_value && same_group(known, reduced)) ||
                      ((groups_by_shape(reduced) || known.known) && same_pattern);
    if (!same) continue;
    joined_ = i;
    known.count += reduced.count;
    prefer(known, std::move(reduced));
    return known.known;
  }
  joined_ = causes_.size();
  failed_ = failed_ || reduced.failure;
  // The group determines the file name, and two mistakes with the same shape need different files.
  if (std::ranges::find(report_.findings, reduced.group, &Finding::group) != report_.findings.end())
    reduced.group += fmt::format("{}{}", kAnotherAnswer, answer_text(reduced));
  if (reduced.known)
    cause.recorded = reduced;
  else
    cause.foreign_value = foreign;
  causes_.push_back(std::move(cause));
  report_.findings.push_back(std::move(reduced));
  if (options_.found) options_.found(report_, report_.findings.back());
  return report_.findings.back().known;
}

bool Findings::same_group(const Finding& known, const Finding& other) {
  if (known.group == fmt::format("{}{}{}", other.group, kAnotherAnswer, answer_text(other)))
    return known.known == other.known;
  return known.group == other.group &&
         (known.known == other.known || groups_by_shape(other) ||
          (other.kind == FindingKind::kCrashed && !other.cause.empty()) ||
          (other.kind == FindingKind::kRefused && !other.detail.empty()));
}

void Findings::prefer(Finding& known, Finding reduced) {
  if (loosens_more(reduced, known)) replace(known, std::move(reduced));
}

void Findings::join_failure(Finding& earlier, const Finding& reduced) {
  if (!earlier.may_be_known || !reduced.failure) return;
  earlier.may_be_known = false;
  earlier.failure = true;
  failed_ = true;
}

void Findings::replace(Finding& known, Finding by) {
  by.count = known.count;
  by.known = known.known;
  by.failure = known.failure;
  by.may_be_known = known.may_be_known;
  by.group = known.group;
  if (groups_by_shape(by)) by.shape = shape_of(by.subject.before);
  known = std::move(by);
  if (options_.found) options_.found(report_, known);
}

void Findings::end() {
  for (Waiting& waiting : waiting_) {
    Finding& finding = waiting.finding;
    const bool shown = std::ranges::any_of(report_.findings, [&](const Finding& other) {
      return other.kind == finding.kind && other.failure;
    });
    // Without a reduction, nobody knows whether a known finding is the cause.
    const bool undetermined = unlearned_ || has_known_pattern(finding, finding.subject) ||
                              (!finding.pass.empty() && has_known_cause(finding));
    if (shown || undetermined || waiting.known.by) {
      leave(waiting);
      continue;
    }
    finding.detail += " (not reduced: the campaign ended first)";
    add(std::move(finding));
  }
  waiting_.clear();
  if (!options_.for_another) merge_same();
}

void Findings::merge_same() {
  for (std::size_t i = causes_.size(); i-- > 0;) {
    if (!causes_[i].same_as) continue;
    Finding same = std::move(report_.findings[i]);
    Finding& earlier = report_.findings[*causes_[i].same_as];
    causes_.erase(causes_.begin() + static_cast<std::ptrdiff_t>(i));
    report_.findings.erase(report_.findings.begin() + static_cast<std::ptrdiff_t>(i));
    if (!same.file.empty()) remove_stored(same.file);
    earlier.count += same.count;
    prefer(earlier, std::move(same));
  }
}

bool Findings::take_known_out_of(HuntSubject& subject, std::uint64_t trial, bool original) {
  if ((trial - 1) % kWindow == 0) learned_ = causes_;
  if (original) return false;
  if (report_.kind != "compiler") subject.policy.clear();
  if (learned_.empty()) return false;
  Stripped without(subject);
  std::size_t changes = 0;
  for (const Cause& cause : learned_) {
    // A hang costs the whole time limit of a request.
    if (is_failure(cause.kind) &&
        trial % (cause.kind == FindingKind::kHung ? kHangEvery : kPatternEvery) != 0)
      changes += without.take_out_all(cause.pattern, 0, kMostAtOnce);
  }
  if (changes > 0) subject = without.subject();
  return changes > 0;
}

bool Findings::may_look(const HuntSubject& subject) const {
  return look_effort_ + kExpectedSteps * effort_of(subject) < (kFirstEffort + searched_) / 4;
}

bool Findings::may_reduce(const Finding& finding, bool suspected) const {
  // Half of the effort is reserved for findings that are certainly new.
  const std::uint64_t most = (kFirstEffort + searched_) / (suspected ? 2 : 1);
  return finding.known || (!suspected && !reduced_.contains(finding.kind)) ||
         reduced_effort_ + kExpectedSteps * effort_of(finding.subject) < most;
}

bool Findings::comparable(const Cause& cause, const Finding& finding) const {
  // The mistake behind a wrong decision can also lose a cached call in another program, even if
  // that program's decisions are right.
  const bool hidden = cause.recorded && cause.kind == FindingKind::kDifferent &&
                      finding.kind == FindingKind::kCacheLoss;
  return hidden || (cause.kind == finding.kind && cause.manner == manner_with_pass(finding) &&
                    (!cause.foreign_value || *cause.foreign_value == foreign_value(finding)));
}

bool Findings::foreign_value(const Finding& finding) const {
  return has_foreign_value(finding.subject.before, finding.witness, options_.assess.sameness);
}

bool Findings::pattern_decides(const Explanation& known, const Finding& finding) const {
  return known.by && causes_[*known.by].kind == finding.kind;
}

bool Findings::has_known_pattern(const Finding& like, const HuntSubject& subject) const {
  const Parts parts = causes_.empty() ? Parts{} : parts_of(subject);
  return std::ranges::any_of(causes_, [&](const Cause& cause) {
    return comparable(cause, like) && cause.pattern.in(parts);
  });
}

// Without known patterns, a subject can fail in another way, and the group of that failure may not
// depend on the program.
bool Findings::merge_other(Finding& finding) {
  if (groups_by_shape(finding)) return false;
  finding.group = group_of(finding);
  return merge(finding);
}

bool Findings::merge(const Finding& finding) {
  const auto known = std::ranges::find_if(
      report_.findings, [&](const Finding& other) { return same_group(other, finding); });
  if (known == report_.findings.end()) return false;
  known->count += finding.count;
  return true;
}

}  // namespace secequiv::hunt
