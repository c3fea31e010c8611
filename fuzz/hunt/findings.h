// Owns the findings of one hunt: which failing subjects a known finding explains, which of the
// others are reduced and when, and which findings have the same cause. It must not know how
// requests are sent, nor how findings are reduced.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>

#include "fuzz/hunt/hunt.h"
#include "fuzz/hunt/mistake.h"
#include "fuzz/hunt/pattern.h"
#include "harness/base/clock.h"

namespace secequiv::hunt {

// What the answer to a subject shows. An answer is right if it is proven right or, without a
// prover, if inputs show no difference.
enum class Shown : std::uint8_t { kRight, kProblem, kNothing };

// The functions of the hunt that the findings use. again() and reduce() return the errors of the
// prover.
struct FindingTools {
  // Sends the finding's subject. If its answer has a problem of any kind, stores the problem and
  // the pass in the finding.
  std::function<Result<Shown>(Finding&)> again;
  // Returns the finding for the smallest subject among those that `wanted` accepts.
  std::function<Result<Finding>(const Finding&, const Wanted& wanted)> reduce;
  // Returns how the code under test acts on the finding's subject.
  std::function<ActsLike(const Finding&)> behaviour;
};

class Findings {
 public:
  Findings(HuntReport& report, const HuntOptions& options, FindingTools tools)
      : report_(report), options_(options), tools_(std::move(tools)) {}

  // Makes a finding from `problem` without reducing it. During learn_known() it is a known one.
  Finding finding(Problem problem, const HuntSubject& subject, std::uint64_t trial,
                  double seconds) const;

  // Sends the subjects of earlier findings with `again`. The failures that they show are known,
  // unless an earlier run recorded another kind or another wrong value. A finding is gone if the
  // answer is right.
  Result<Ok> learn_known(const std::function<Result<Shown>(const KnownSubject&)>& again);
  // Compares a value that the subject's answer gives with the recorded one. Precondition:
  // learn_known() has called `again`.
  void compare_with_recorded(const KnownSubject& known, std::uint32_t value) {
    known_ = !known.answer || same_decision(value, known.answer->after, options_.assess.sameness);
  }

  // Counts the effort of a trial. Precondition: its finding is taken later.
  void tried(const HuntSubject& subject);
  // Counts the finding under a known finding that explains it. Otherwise it waits until its
  // reduction is due. Errors: those of the tools.
  Result<Ok> take(Finding finding);
  // Adds a finding that needs no reduction, unless an earlier one has the same cause. Returns
  // whether the finding is known from an earlier run.
  bool add(Finding reduced);
  // Adds a finding of another process or, if `earlier` is set, more trials of that finding. Returns
  // its number among the report's findings. Errors: those of the tools.
  Result<std::size_t> join(Finding reduced, std::optional<std::size_t> earlier);
  // Counts the findings that still wait, and adds the first failure of each kind that has no
  // finding yet.
  void end();

  // Takes known patterns out of half of the generated subjects, because programs that have them
  // seldom show anything else. Returns whether the subject changed. Patterns are learned at the end
  // of each window of trials, so that the programs of a seed do not depend on the machine's speed.
  // Precondition: the findings of all earlier windows were taken.
  bool take_known_out_of(HuntSubject& subject, std::uint64_t trial, bool original);

  // Returns whether a new failure was found.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool out_of_time() const { return seconds_since(start_) >= options_.seconds; }

 private:
  static constexpr std::size_t kMostAtOnce = 256;  // occurrences of a pattern, in one step

  // What later failures are compared with. There is one for each finding of the report, in the same
  // order.
  struct Cause {
    FindingKind kind;
    std::string manner;
    Pattern pattern;
    // Failures with another has_foreign_value() have another cause; absent for a known finding.
    std::optional<bool> foreign_value = {};
    std::optional<Mistakes> mistakes = {};    // as soon as they are needed
    std::size_t explained = 0;                // findings of this run that the mistakes explain
    std::optional<Finding> recorded = {};     // a known finding; the report can show a looser one
    std::optional<std::size_t> same_as = {};  // an earlier finding with which end() merges this one
  };

  enum class From : std::uint8_t { kThisRun, kAnyRun };
  struct Explanation {
    std::optional<std::size_t> by;  // the finding that explains, preferably of an earlier run
    bool open = false;              // an answer decided nothing, or there were too many patterns
    bool refuted = false;           // the finding's mistake does not explain the answer
  };

  // A failure that waits for its reduction.
  struct Waiting {
    Finding finding;
    Explanation known;  // explanation by findings of earlier runs
    bool has_pattern;   // its subject has the pattern of a finding
  };

  // Takes the patterns of findings out of `finding` until the answer is right, and returns the
  // number of the finding whose pattern was last. Otherwise leaves the last subject that fails in
  // `finding`, with its problem.
  Result<Explanation> explanation(Finding& finding, From from);
  // Takes the pattern of one finding out of `rest`, and sends the result. Sets `by` to this
  // finding, or past the last one if no pattern occurs. If the answer shows a problem, leaves it in
  // `rest`.
  Result<Shown> without_pattern(Finding& rest, From from, std::size_t& by);
  [[nodiscard]] bool counts_as_failure(FindingKind kind) const {
    return is_failure(kind) && !options_.allowed.contains(kind);
  }
  // If the compiler makes the same mistake for another spelling of the policy, the finding gets
  // this spelling.
  Result<Ok> respell(Finding& finding);
  // Counts the finding if a known one explains it. Returns true if nothing is left to do. Without
  // `reduce_looser`, a finding that loosens more than the one that its group shows must still be
  // reduced, because a group shows the finding that loosens most.
  Result<bool> explained(Finding& finding, bool reduce_looser);
  // Searches for another mistake behind the pattern that explains this failure. Without all
  // occurrences of the pattern, the subject may lack what the other mistake needs. Returns whether
  // a finding was added.
  Result<bool> look_behind(const Finding& finding, std::size_t by);
  // As look_behind(), if the other mistake needs a long program.
  Result<bool> look_behind_length(const Finding& finding, std::size_t by);
  // As look_behind(), if the other mistake needs an architecture, or several.
  Result<bool> look_behind_arches(const Finding& finding, std::size_t by);
  // Returns whether this look has enough effort left. Looks have effort of their own, because
  // frequent bugs can use up the effort of reductions.
  [[nodiscard]] bool may_look(const HuntSubject& subject) const;
  // Returns whether the program of `finding` is so much longer that, if both are reduced, they have
  // different causes.
  static bool much_longer(const Finding& finding, const Finding& than);
  // Returns whether a reduced subject needs many more instructions than the finding that explains
  // it. Then it has another cause.
  [[nodiscard]] bool hides_another(std::size_t by, const Finding& reduced) const;
  // Takes out all occurrences of the pattern but the one that decides whether the subject fails.
  // Returns nothing if no single occurrence decides.
  Result<std::optional<Finding>> with_one_occurrence(const Finding& finding,
                                                     const Pattern& pattern);
  // Explains the finding by those of earlier runs, and leaves the last subject that fails in
  // `finding`. Two mistakes can share a pattern, so an explanation alone does not show that the
  // finding is known.
  Result<Explanation> suspected(Finding& finding);
  // Returns whether the mistake of an earlier run's finding explains the answer, or nothing if this
  // is uncertain.
  Result<std::optional<bool>> predicted(std::size_t known, const Finding& finding);
  // Returns whether `subject` certainly shows the mistake of this known finding. A reduction must
  // not turn another mistake into the known one.
  bool shows_known(std::size_t known, const Finding& like, const HuntSubject& subject);
  void wait(Waiting waiting);
  // Counts the effort of one request that is not a trial.
  void spend(const HuntSubject& subject);
  // Gives the finding this subject and sends it, as FindingTools::again does.
  Result<Shown> send(Finding& finding, HuntSubject subject);
  // Merges each finding that the pattern of an earlier one explains with the earlier one.
  void merge_same();
  // Counts a failure that is not reduced.
  void leave(const Waiting& waiting);
  Result<Ok> reduce_waiting();
  // Reduces the finding, and counts the effort.
  Result<Finding> reduce(const Finding& finding, const Wanted& wanted);
  // Reduces the finding. If its subject still fails without the pattern that the reduction found,
  // reduces what is left too, and so on.
  Result<Ok> reduce_all(Waiting waiting);
  // Merges a reduced finding with one of the same cause, or adds it. Returns whether it is new.
  Result<bool> settle(Finding reduced, Explanation known);
  // If a finding of an earlier run predicts this wrong answer, counts `reduced` there and returns
  // true. If `reduced` is not fully reduced, `known` decides instead. Sets may_be_known if neither
  // decides.
  Result<bool> settle_known(Finding& reduced, Explanation known);
  Result<Agreement> compare(std::size_t known, const Finding& reduced);
  Result<Ok> learn_mistakes(std::size_t known);
  // Returns the mistakes that explain the finding, which has this cause. Tries them on programs
  // with other values and on changed copies. A copy may also show one of the `others`.
  Result<Mistakes> mistakes_of(const Finding& finding, const Cause& cause, const Mistakes& others);
  // Returns whether the mistakes predict the wrong answers to changed copies of the program. If
  // not, the code under test does not make a mistake that `mistake` can describe.
  Result<bool> predicts_copies(const Finding& finding, const Cause& cause, const Mistakes& mistakes,
                               const Mistakes& others);
  // Returns whether the mistake of a finding certainly explains this wrong answer.
  Result<bool> mistake_explains(std::size_t earlier, const Finding& reduced);
  // Sends the finding's subject without this pattern.
  Result<Shown> shown_without(const Finding& finding, const Pattern& pattern);
  [[nodiscard]] static Pattern pattern_of(const Finding& finding);
  [[nodiscard]] bool may_reduce(const Finding& finding, bool suspected = false) const;
  [[nodiscard]] bool knows_earlier_runs() const;
  [[nodiscard]] bool has_known_pattern(const Finding& like, const HuntSubject& subject) const;
  // Returns whether the cause of a finding of an earlier run may explain this one.
  [[nodiscard]] bool has_known_cause(const Finding& like) const;
  [[nodiscard]] bool foreign_value(const Finding& finding) const;
  // Returns whether the cause may explain the finding: one of the same kind, manner and, unless the
  // cause is known, class of wrong value; or a lost call, which may be the effect of a wrong
  // decision of an earlier run.
  [[nodiscard]] bool comparable(const Cause& cause, const Finding& finding) const;
  // Returns whether a finding that is not compared counts under the one that explains it. Without
  // a comparison, a finding of another kind never does.
  [[nodiscard]] bool pattern_decides(const Explanation& known, const Finding& finding) const;
  // Shows `reduced` in place of `known` if it loosens more.
  void prefer(Finding& known, Finding reduced);
  // If it is certain that `reduced` is new, the earlier finding with the same cause is new, too.
  void join_failure(Finding& earlier, const Finding& reduced);
  // Shows `by` in place of `known`.
  void replace(Finding& known, Finding by);
  // Returns whether two findings are in the same group. For kinds whose group does not depend on
  // the program, a finding of this run never counts as one of an earlier run.
  static bool same_group(const Finding& known, const Finding& other);
  // If its group already has a finding, adds this one to its count and returns true.
  bool merge(const Finding& finding);
  bool merge_other(Finding& finding);

  HuntReport& report_;
  const HuntOptions& options_;
  FindingTools tools_;
  Clock::time_point start_ = Clock::now();
  std::vector<Cause> causes_;
  std::vector<Cause> learned_;  // `causes_` at the start of the window
  std::deque<Waiting> waiting_;
  std::set<FindingKind> reduced_;
  std::uint64_t searched_ = 0;        // the effort of trials
  std::uint64_t reduced_effort_ = 0;  // the effort of reductions and explanations
  bool known_ = false;
  bool unlearned_ = false;  // no time was left to send all subjects of earlier runs
  std::optional<FindingKind> known_kind_;
  bool failed_ = false;
  std::uint64_t look_effort_ = 0;             // the effort of look_behind()
  std::map<std::size_t, std::size_t> looks_;  // looks behind patterns, by the bits of the length
  bool found_by_length_ = false;              // look_behind_length() has found a mistake
  // Pattern::arch() of each mistake that look_behind_arches() has found.
  std::set<std::uint32_t> found_by_arch_;
  std::size_t joined_ = 0;  // the finding to which add() or settle() added the last one
};

}  // namespace secequiv::hunt
