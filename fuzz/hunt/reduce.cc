#include "fuzz/hunt/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/hunt/shape.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/compare/direction.h"
#include "harness/generate/random_program.h"
#include "harness/generate/shrink.h"
#include "harness/policy/json.h"

namespace secequiv::hunt {
namespace {

bool same_actions(const Witness& a, const Witness& b) {
  return action_of(a.before) == action_of(b.before) && action_of(a.after) == action_of(b.after);
}

// Holds what one reduction preserves: the kind of finding, the crash, and both actions of the
// witness. Also watches the deadline.
class Reduction {
 public:
  Reduction(const Target& target, const Finding& finding, const HuntOptions& options)
      : target_(target), finding_(finding), options_(options) {
    seconds_ = options.reduce_seconds;
    // Each step that hangs takes the whole time limit of a request.
    if (finding.kind == FindingKind::kHung)
      seconds_ = std::max(seconds_, 12 * options.request_seconds);
  }

  bool still(const HuntSubject& subject) {
    if (error_ || out_of_time()) return false;
    const auto inputs = inputs_for(subject, finding_.witness);
    Answer<Program> answer;
    auto problem = shows(target_, finding_.kind, subject, answer, inputs, options_);
    if (!problem) {
      error_ = problem.error();
      return false;
    }
    if (!*problem || !same_crash(**problem) || !same_change(**problem)) return false;
    if (options_.stop && options_.stop())
      return false;  // a request that `stop` interrupted looks like a hang
    last_ = Shown{subject, std::move(answer), std::move(**problem)};
    return true;
  }

  // Returns the first pass whose program for the smallest subject shows the same kind of finding.
  // Returns "" if the optimizer reports no stages, or stages that do not fit its answer.
  std::string pass() {
    if (target_.optimizer == nullptr || !last_ || !last_->answer.ok() ||
        (finding_.kind != FindingKind::kDifferent && finding_.kind != FindingKind::kRejected))
      return {};
    auto stages = target_.optimizer->stages(last_->subject.before);
    if (!stages.ok() || stages.value.empty() || stages.value.back().program != last_->answer.value)
      return {};
    const auto inputs = inputs_for(last_->subject, last_->problem.witness);
    AssessOptions how = options_.assess;
    how.cache = false;
    // The reduction may have used all of its time, so this search gets as much again.
    start_ = Clock::now();
    for (OptimizerStage& stage : stages.value) {
      if (seconds_since(start_) > seconds_ || (options_.stop && options_.stop())) return {};
      Answer<Program> after;
      after.value = std::move(stage.program);
      const auto assessment = assess(last_->subject.before, after, inputs, how);
      if (!assessment) {
        error_ = assessment.error();
        return {};
      }
      if (assessment->problem && assessment->problem->kind == finding_.kind) return stage.pass;
    }
    return {};
  }

  [[nodiscard]] bool timed_out() const { return timed_out_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  struct Shown {
    HuntSubject subject;
    Answer<Program> answer;
    Problem problem;
  };
  // Returns the smallest subject so far, which is the last one for which still() returned true.
  [[nodiscard]] const std::optional<Shown>& last() const { return last_; }

 private:
  [[nodiscard]] std::vector<SeccompData> inputs_for(const HuntSubject& subject,
                                                    const std::optional<Witness>& witness) const {
    std::vector<SeccompData> inputs;
    if (witness) inputs.push_back(witness->data);
    if (options_.assess.prover) return inputs;
    Random random(1);  // equal subjects must get equal inputs
    for (const SeccompData& data : random_inputs(random, subject.before, 64))
      inputs.push_back(data);
    return inputs;
  }

  bool out_of_time() {
    timed_out_ =
        timed_out_ || seconds_since(start_) > seconds_ || (options_.stop && options_.stop());
    return timed_out_;
  }

  // A smaller program that crashes in another place is a different finding.
  bool same_crash(const Problem& problem) const {
    return finding_.kind != FindingKind::kCrashed ||
           signature_of(problem.detail, problem.cause) ==
               signature_of(finding_.detail, finding_.cause);
  }

  // A smaller program for which decisions only become stricter would not show a finding that allows
  // more.
  bool same_change(const Problem& problem) const {
    return !finding_.witness || !problem.witness ||
           same_actions(*problem.witness, *finding_.witness);
  }

  const Target& target_;
  const Finding& finding_;
  const HuntOptions& options_;
  Clock::time_point start_ = Clock::now();
  double seconds_ = 0;
  bool timed_out_ = false;
  std::optional<Error> error_;
  std::optional<Shown> last_;
};

// Minimizes the witness of the reduced pair by running inputs.
void finish(Finding& out, const Reduction::Shown& shown, Sameness sameness) {
  out.subject.before = shown.subject.before;
  out.subject.policy = shown.subject.policy;
  out.detail = shown.problem.detail;
  out.cause = shown.problem.cause;
  out.after.reset();
  if (shown.answer.ok()) out.after = shown.answer.value;
  out.witness = shown.problem.witness;
  if (!out.witness) return;
  const Pair pair{out.subject.before, *out.after, sameness};
  const Witness shown_first = *out.witness;
  out.witness = minimize(shown_first, [&](const SeccompData& data) {
    auto smaller = replay(pair, data);
    if (smaller && !same_actions(*smaller, shown_first)) smaller.reset();
    return smaller;
  });
  out.detail = became_text(*out.witness);
}

}  // namespace

Result<std::optional<Problem>> shows(const Target& target, FindingKind kind,
                                     const HuntSubject& subject, Answer<Program>& answer,
                                     std::span<const SeccompData> inputs,
                                     const HuntOptions& options) {
  const std::optional<Problem> nothing;
  answer = ask(target, subject);
  if (answer.outcome == Outcome::kUnsupported) return nothing;
  const auto note = [&](std::string detail) {
    return std::optional(Problem{kind, std::move(detail), "answer", {}});
  };
  switch (kind) {
    case FindingKind::kGrew:
      if (!answer.ok() || answer.value.size() <= subject.before.size()) return nothing;
      return note(fmt::format("{} became {}", counted(subject.before.size(), "instruction"),
                              answer.value.size()));
    case FindingKind::kNondeterministic: {
      if (!answer.ok()) return nothing;
      const auto again = ask(target, subject);
      if (!again.ok() || again.value == answer.value) return nothing;
      return note(
          fmt::format("two equal requests got different programs, of {} and {} instructions",
                      answer.value.size(), again.value.size()));
    }
    case FindingKind::kNotIdempotent: {
      if (!answer.ok()) return nothing;
      if (refusal_of(answer.value, LengthRule::kUnlimited)) return nothing;
      const auto again = ask(target, HuntSubject{{}, {}, answer.value});
      if (!again.ok() || again.value == answer.value) return nothing;
      return note(fmt::format("given its own output of {}, it returned a different program of {}",
                              counted(answer.value.size(), "instruction"), again.value.size()));
    }
    default:
      break;
  }
  AssessOptions how = options.assess;
  how.cache = kind == FindingKind::kCacheLoss;
  auto assessment = assess(subject.before, answer, inputs, how);
  if (!assessment) return assessment.error();
  if (assessment->problem && assessment->problem->kind != kind) return nothing;
  return assessment->problem;
}

Result<Finding> reduce(const Target& target, const Finding& finding, const HuntOptions& options) {
  Finding out = finding;
  Reduction reduction(target, finding, options);
  ShrinkEnd end = ShrinkEnd::kRefused;
  constexpr ShrinkLimits kLimits{.calls = 20'000};
  if (target.compiler != nullptr) {
    auto policy = read_policy(finding.subject.policy, finding.subject.name);
    if (!policy) return policy.error();
    end = shrink(
              *policy,
              [&](const Policy& smaller) {
                return reduction.still(subject_of(finding.subject.name, smaller));
              },
              kLimits)
              .end;
  } else {
    end = shrink(
              finding.subject.before,
              [&](ProgramView smaller) {
                return reduction.still(
                    HuntSubject{finding.subject.name, {}, Program(smaller.begin(), smaller.end())});
              },
              kLimits)
              .end;
  }
  if (reduction.error()) return *reduction.error();
  if (!reduction.last()) {
    out.detail += reduction.timed_out() ? " (not reduced: the time ran out)"
                                        : " (not reduced: it did not happen again)";
    return out;
  }
  out.reduced = end == ShrinkEnd::kMinimal && !reduction.timed_out();
  finish(out, *reduction.last(), options.assess.sameness);
  out.pass = reduction.pass();
  if (reduction.error()) return *reduction.error();
  return out;
}

}  // namespace secequiv::hunt
