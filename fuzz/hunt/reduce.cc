#include "fuzz/hunt/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/hunt/shape.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/compare/direction.h"
#include "harness/compare/named_call.h"
#include "harness/generate/random_program.h"
#include "harness/generate/shrink.h"
#include "harness/policy/json.h"

namespace secequiv::hunt {
namespace {

// All unknown actions count as one.
bool same_actions(const Witness& a, const Witness& b) {
  const auto unknown = [](std::uint32_t value) {
    return action_of(value) != SECCOMP_RET_KILL_PROCESS &&
           behaviour_of(value) == SECCOMP_RET_KILL_PROCESS;
  };
  const auto same = [&](std::uint32_t one, std::uint32_t other) {
    return action_of(one) == action_of(other) || (unknown(one) && unknown(other));
  };
  return same(a.before, b.before) && same(a.after, b.after);
}

// Requests the answer for `subject`, stores it in `answer`, and returns its problem of kind `kind`,
// if there is one.
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
  ASSIGN_OR_RETURN(auto assessment, assess(subject.before, answer, inputs, how));
  if (assessment.problem && assessment.problem->kind != kind) return nothing;
  return assessment.problem;
}

// Holds what one reduction preserves: the kind of finding, the crash or the kernel's rule, the
// wrong pass, and both actions of the witness. Also watches the deadline.
class Reduction {
 public:
  Reduction(const Target& target, const Finding& finding, const HuntOptions& options,
            const Wanted& wanted, double seconds)
      : target_(target), finding_(finding), options_(options), wanted_(wanted), seconds_(seconds) {}

  bool still(const HuntSubject& subject) {
    if (error_ || ended() || !wanted_(subject)) return false;
    ++requests_;
    const auto inputs = inputs_like(subject, finding_.witness, options_);
    Answer<Program> answer;
    auto problem = shows(target_, finding_.kind, subject, answer, inputs, options_);
    if (!problem) {
      error_ = problem.error();
      return false;
    }
    if (!*problem || !same_manner(**problem, finding_) || !same_change(**problem) ||
        foreign_value(subject, (*problem)->witness) != foreign_value_)
      return false;
    if (options_.stop && options_.stop())
      return false;  // a request that `stop` interrupted looks like a hang
    if (!finding_.pass.empty()) {
      const auto pass = pass_of(target_, finding_.kind, subject, answer, inputs, options_);
      if (!pass) error_ = pass.error();
      if (!pass || *pass != finding_.pass) return false;
    }
    last_ = Reduced{subject, std::move(answer), std::move(**problem)};
    return true;
  }

  // Returns whether requests or time ran out, or the user stops the hunt.
  bool ended() {
    ended_ = ended_ || requests_ >= steps_to_reduce(options_, finding_) ||
             seconds_since(start_) > seconds_ || (options_.stop && options_.stop());
    return ended_;
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  struct Reduced {
    HuntSubject subject;
    Answer<Program> answer;
    Problem problem;
  };
  // Returns the smallest subject so far, which is the last one for which still() returned true.
  [[nodiscard]] const std::optional<Reduced>& last() const { return last_; }

 private:
  // If the finding makes a decision looser, a smaller program whose decision becomes stricter shows
  // another finding.
  bool same_change(const Problem& problem) const {
    return !finding_.witness || !problem.witness ||
           same_actions(*problem.witness, *finding_.witness);
  }

  [[nodiscard]] bool foreign_value(const HuntSubject& subject,
                                   const std::optional<Witness>& witness) const {
    return has_foreign_value(subject.before, witness, options_.assess.sameness);
  }

  const Target& target_;
  const Finding& finding_;
  const HuntOptions& options_;
  const bool foreign_value_ = foreign_value(finding_.subject, finding_.witness);
  const Wanted& wanted_;
  Clock::time_point start_ = Clock::now();
  double seconds_ = 0;
  std::size_t requests_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;
  std::optional<Reduced> last_;
};

// Minimizes the witness of the reduced pair by running inputs.
void finish(Finding& out, const Reduction::Reduced& shown, Sameness sameness) {
  out.subject.before = shown.subject.before;
  out.subject.policy = shown.subject.policy;
  out.detail = shown.problem.detail;
  out.cause = shown.problem.cause;
  out.rule = shown.problem.rule;
  out.after.reset();
  if (shown.answer.ok()) out.after = shown.answer.value;
  out.witness = shown.problem.witness;
  // Inputs that are smaller need not show a difference of their classes.
  if (!out.witness || sameness == Sameness::kEffect) return;
  const Pair pair{out.subject.before, *out.after, sameness};
  const Witness shown_first = *out.witness;
  const bool foreign = has_foreign_value(pair.before, shown_first, sameness);
  const auto alike = [&](const SeccompData& data) {
    auto other = replay(pair, data);
    if (other && (!same_actions(*other, shown_first) ||
                  has_foreign_value(pair.before, other, sameness) != foreign))
      other.reset();
    return other;
  };
  out.witness = minimize(shown_first, alike);
  for (const SeccompData& data : with_named_calls(out.witness->data)) {
    const auto named = alike(data);
    if (!named) continue;
    out.witness = named;
    break;
  }
  out.detail = became_text(*out.witness);
}

}  // namespace

std::vector<SeccompData> inputs_like(const HuntSubject& subject,
                                     const std::optional<Witness>& witness,
                                     const HuntOptions& options) {
  std::vector<SeccompData> inputs;
  if (witness) inputs.push_back(witness->data);
  if (options.assess.prover) return inputs;
  Random random(1);
  for (const SeccompData& data : random_inputs(random, subject.before, 64)) inputs.push_back(data);
  return inputs;
}

Result<std::string> pass_of(const Target& target, FindingKind kind, const HuntSubject& subject,
                            const Answer<Program>& answer, std::span<const SeccompData> inputs,
                            const HuntOptions& options) {
  if (target.optimizer == nullptr || !answer.ok() ||
      (kind != FindingKind::kDifferent && kind != FindingKind::kRejected))
    return std::string();
  auto stages = target.optimizer->stages(subject.before);
  if (!stages.ok() || stages.value.empty() || stages.value.back().program != answer.value)
    return std::string();
  AssessOptions how = options.assess;
  how.cache = false;
  for (OptimizerStage& stage : stages.value) {
    if (options.stop && options.stop()) break;
    Answer<Program> after;
    after.value = std::move(stage.program);
    ASSIGN_OR_RETURN(const auto assessment, assess(subject.before, after, inputs, how));
    if (assessment.problem && assessment.problem->kind == kind) return stage.pass;
  }
  return std::string();
}

Result<Finding> reduce(const Target& target, const Finding& finding, const HuntOptions& options,
                       const Wanted& wanted, double seconds) {
  Finding out = finding;
  Reduction reduction(target, finding, options, wanted, seconds);
  ShorterRequests shorter(options, finding.kind);
  ShrinkEnd end = ShrinkEnd::kRefused;
  const ShrinkLimits limits{.stop = [&] { return reduction.ended(); }};
  if (target.compiler != nullptr) {
    ASSIGN_OR_RETURN(auto policy, read_policy(finding.subject.policy, finding.subject.name));
    end = shrink(
              policy,
              [&](const Policy& smaller) {
                return reduction.still(subject_of(finding.subject.name, smaller));
              },
              limits)
              .end;
  } else {
    end = shrink(
              finding.subject.before,
              [&](ProgramView smaller) {
                return reduction.still(
                    HuntSubject{finding.subject.name, {}, Program(smaller.begin(), smaller.end())});
              },
              limits)
              .end;
  }
  shorter.end();
  if (reduction.error()) return *reduction.error();
  std::optional<Answer<Program>> whole;  // with the whole time limit
  if (finding.kind == FindingKind::kHung && reduction.last()) {
    whole = ask(target, reduction.last()->subject);
    if (whole->outcome != Outcome::kHung) {
      out.detail += " (not reduced: smaller requests take long, but do not hang)";
      return out;
    }
  }
  if (!reduction.last()) {
    out.detail += reduction.ended() ? " (not reduced: the time ran out)"
                                    : " (not reduced: the failure did not happen again)";
    out.repeated = reduction.ended();
    return out;
  }
  out.reduced = end == ShrinkEnd::kMinimal && !reduction.ended();
  finish(out, *reduction.last(), options.assess.sameness);
  if (whole) out.detail = whole->detail;
  return out;
}

}  // namespace secequiv::hunt
