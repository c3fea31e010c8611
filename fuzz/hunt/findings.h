// Owns the findings of one hunt: which failing subjects a known finding explains, which of the
// others are reduced and when, and which findings have the same cause. It must not know how
// requests are sent, nor how findings are reduced.
#pragma once

#include <cstdint>
#include <deque>
#include <set>

#include "fuzz/hunt/hunt.h"
#include "fuzz/hunt/pattern.h"
#include "harness/base/clock.h"

namespace secequiv::hunt {

// What the answer to a subject shows. Only a proof makes it right or, without a prover, inputs that
// show no difference.
enum class Shown : std::uint8_t { kRight, kProblem, kNothing };

// What the findings ask of the hunt. Both return the errors of the prover.
struct FindingTools {
  // Sends the finding's subject. If its answer has a problem of any kind, stores the problem and
  // the pass in the finding.
  std::function<Result<Shown>(Finding&)> again;
  // Returns the finding for the smallest subject among those that `wanted` accepts.
  std::function<Result<Finding>(const Finding&, const Wanted& wanted)> reduce;
};

class Findings {
 public:
  Findings(HuntReport& report, const HuntOptions& options, FindingTools tools)
      : report_(report), options_(options), tools_(std::move(tools)) {}

  // Makes a finding from `problem` without reducing it. During learn_known() it is a known one.
  Finding finding(Problem problem, const HuntSubject& subject, std::uint64_t trial,
                  double seconds) const;

  // Sends the subjects of earlier findings with `again`, so that what they show is known. If an
  // earlier run recorded a kind, other kinds are new. A finding is gone if the answer is right.
  Result<Ok> learn_known(const std::function<Result<Shown>(const KnownSubject&)>& again);

  // Counts the finding under a known finding that explains it. Otherwise it waits until its
  // reduction is due. Errors: those of the tools.
  Result<Ok> take(Finding finding);
  // Adds a finding that needs no reduction, unless an earlier one has the same cause. Returns
  // whether the finding is known from an earlier run.
  bool add(Finding reduced);
  // Counts the findings that still wait, and adds the first failure of each kind that has none.
  void end();

  // Takes known patterns out of half of the generated subjects, because programs that have them
  // seldom show anything else. Returns whether the subject changed. Patterns are learned at the end
  // of each window of trials, so that the programs of a seed do not depend on the machine's speed.
  // Precondition: the findings of all earlier windows were taken.
  bool take_known_out_of(HuntSubject& subject, std::uint64_t trial, bool original);

  // Returns whether a new failure was found.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  // What later failures are compared with. There is one for each finding of the report, in the same
  // order.
  struct Cause {
    FindingKind kind;
    std::string manner;
    Pattern pattern;
  };

  // Takes the patterns of this run's findings out of `finding` until the answer is right, and
  // returns the number of the finding whose pattern was last. A finding of an earlier run explains
  // nothing in this way, because that would let a new bug pass. Otherwise leaves the last subject
  // that fails in `finding`, with its problem, and returns nothing.
  Result<std::optional<std::size_t>> explanation(Finding& finding);
  // Takes `more` patterns and another one out of `rest`, and sends it again. Sets `by` to the
  // finding of the last pattern. If this shows a problem, leaves it in `rest`.
  Result<Shown> without_patterns(Finding& rest, std::size_t more, std::size_t& by);
  [[nodiscard]] std::optional<HuntSubject> without_pattern(const Finding& rest, std::size_t cause,
                                                           std::size_t way) const;
  [[nodiscard]] std::optional<HuntSubject> without_any_pattern(const Finding& rest) const;
  [[nodiscard]] bool counts_as_failure(FindingKind kind) const {
    return is_failure(kind) && !options_.allowed.contains(kind);
  }
  // Counts the finding if a known one explains it. Returns whether nothing is left to do: a group
  // shows the finding that loosens most, so one that loosens more must still be reduced.
  Result<bool> explained(Finding& finding, bool reduce_looser);
  Result<Ok> reduce_waiting();
  // Reduces the finding, and counts the effort.
  Result<Finding> reduce(const Finding& finding, const Wanted& wanted);
  // Reduces the finding, and again without what this found, as long as it shows more causes.
  Result<Ok> reduce_all(Finding finding);
  // Merges a reduced finding with one of the same cause, or adds it. Returns whether it is new.
  Result<bool> settle(Finding reduced);
  // Returns whether the finding's subject gets a right answer without this pattern.
  Result<bool> only_shows(const Finding& finding, const Pattern& pattern);
  [[nodiscard]] static Pattern pattern_of(const Finding& finding);
  [[nodiscard]] bool may_reduce(const Finding& finding) const;
  [[nodiscard]] bool out_of_time() const { return seconds_since(start_) >= options_.seconds; }
  [[nodiscard]] bool has_known_pattern(const Finding& like, const HuntSubject& subject) const;
  [[nodiscard]] bool comparable(const Cause& cause, const Finding& finding) const;
  // Shows `reduced` in place of `known` if it loosens more.
  void prefer(Finding& known, Finding reduced);
  // Shows `by` in place of `known`.
  void replace(Finding& known, Finding by);
  // Whether two findings are in the same group. For kinds whose group does not depend on the
  // program, a finding of this run never counts as one of an earlier run.
  static bool same_group(const Finding& known, const Finding& other);
  // If its group has a finding, counts one more in it and returns true.
  bool merge(const Finding& finding);
  bool merge_other(Finding& finding);

  HuntReport& report_;
  const HuntOptions& options_;
  FindingTools tools_;
  Clock::time_point start_ = Clock::now();
  std::vector<Cause> causes_;
  std::vector<Cause> learned_;  // at the start of the window
  std::deque<Finding> waiting_;
  std::set<FindingKind> reduced_;
  std::uint64_t reducing_steps_ = 0;
  bool known_ = false;
  std::optional<FindingKind> known_kind_;
  bool failed_ = false;
};

}  // namespace secequiv::hunt
