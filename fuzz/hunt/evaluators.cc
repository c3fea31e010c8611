#include "fuzz/hunt/evaluators.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuzz/hunt/ahead.h"
#include "fuzz/hunt/findings.h"
#include "fuzz/hunt/jobs.h"
#include "fuzz/hunt/shape.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/compare/named_call.h"
#include "harness/generate/random_program.h"
#include "harness/generate/shrink.h"
#include "harness/inputs/cases.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostInputs = 20000;  // for a program that the user named

Problem differs(const SeccompData& data, std::uint32_t ours, std::uint32_t theirs) {
  return Problem{
      FindingKind::kDifferent,
      fmt::format("it returned {:#010x} ({}), but our interpreter returned {:#010x} ({}) for {}",
                  theirs, describe_action(theirs), ours, describe_action(ours), describe(data)),
      "inputs", Witness{data, ours, theirs}};
}

// Returns the problem with an answer, if there is one.
std::optional<Problem> problem_with(ProgramView program, std::span<const SeccompData> inputs,
                                    const Answer<std::vector<std::uint32_t>>& answer,
                                    Sameness sameness) {
  if (answer.outcome == Outcome::kUnsupported) return std::nullopt;
  if (!answer.ok())
    return Problem{finding_of(answer.outcome), answer.detail, "answer", {}, answer.cause};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::uint32_t ours = run(program, inputs[i]);
    if (!same_decision(ours, answer.value[i], sameness))
      return differs(inputs[i], ours, answer.value[i]);
  }
  return std::nullopt;
}

class EvaluatorHunt {
 public:
  EvaluatorHunt(const std::string& name, Evaluator& evaluator, ProgramSource& source,
                std::span<const SeccompData> inputs, const HuntOptions& options)
      : evaluator_(evaluator),
        source_(source),
        inputs_(inputs),
        options_(options),
        random_(options.seed),
        report_(new_report(name, "evaluator", source, options)) {}

  Result<HuntReport> run() {
    auto shown = start_;
    RETURN_IF_ERROR(findings_.learn_known([this](const auto& known) { return try_known(known); }));
    while (!finished()) RETURN_IF_ERROR(try_batch(shown));
    report_.shapes = source_.shapes();
    if (options_.jobs != nullptr) RETURN_IF_ERROR(options_.jobs->end(findings_, report_, options_));
    findings_.end();
    report_.seconds = seconds_since(start_);
    conclude(report_, options_, originals_);
    if (report_.verdict == Verdict::kPass)
      report_.reason = fmt::format("no {}failure in {} of {}", report_.knows_earlier ? "new " : "",
                                   counted(report_.evaluations, "evaluation"),
                                   counted(report_.answered, "program"));
    report_.reason += unanswered_;
    return std::move(report_);
  }

 private:
  struct Trial {
    HuntSubject subject;
    bool original;
    std::vector<SeccompData> inputs;
    Answer<std::vector<std::uint32_t>> answer = {};
  };

  // Makes one trial. If the evaluator permits several requests at once, makes all trials up to the
  // end of a window; their requests then run ahead.
  Result<Ok> try_batch(Clock::time_point& shown) {
    const bool alone = evaluator_.at_once() == 1;
    const std::uint64_t left =
        std::max<std::uint64_t>(options_.trials, source_.originals()) - report_.trials;
    const std::uint64_t window = kWindow - report_.trials % kWindow;
    std::vector<Trial> trials(std::min<std::uint64_t>(left, alone ? 1 : window));
    for (std::size_t i = 0; i < trials.size(); ++i) make(trials[i], report_.trials + i + 1);
    Ahead ahead(evaluator_.at_once(), alone ? 0 : trials.size(), [&](std::size_t i) {
      if (may_run(trials[i])) request(trials[i]);
    });
    ahead_ = &ahead;
    Result<Ok> status = Ok{};
    for (std::size_t i = 0; i < trials.size() && status && !finished(); ++i) {
      if (!alone) ahead.wait_for(i);
      status = examine(trials[i]);
      report_.seconds = seconds_since(start_);
      if (!options_.progress || seconds_since(shown) < 0.1) continue;
      options_.progress(report_);
      shown = Clock::now();
    }
    ahead_ = nullptr;
    if (status && options_.jobs != nullptr) status = options_.jobs->join(findings_, report_);
    return status;
  }

  void make(Trial& trial, std::uint64_t number) {
    trial.original = number <= source_.originals();
    trial.subject = source_.next(random_);
    if (findings_.take_known_out_of(trial.subject, number, trial.original))
      source_.changed(trial.subject);
    if (may_run(trial)) trial.inputs = inputs_for(trial.subject.before, trial.original);
  }

  static bool may_run(const Trial& trial) { return !refusal_of(trial.subject.before); }

  // Several threads call this.
  void request(Trial& trial) const {
    trial.answer = evaluator_.evaluate(trial.subject.before, trial.inputs);
  }

  // The user's own programs are tried even if the limits are reached.
  bool finished() {
    report_.interrupted = report_.interrupted || (options_.stop && options_.stop());
    if (report_.interrupted || (options_.stop_at_first && findings_.failed())) return true;
    if (report_.trials < source_.originals()) return false;
    return report_.trials >= options_.trials || seconds_since(start_) >= options_.seconds;
  }

  void leave_out(bool original, const std::string& why) {
    ++report_.unsupported;
    source_.unsupported(report_.trials);
    originals_.unsupported += original ? 1 : 0;
    if (report_.unsupported_example.empty()) report_.unsupported_example = why;
  }

  std::vector<SeccompData> inputs_for(ProgramView program, bool original) {
    if (!original) return random_inputs(random_, program, options_.inputs);
    std::vector<SeccompData> out(inputs_.begin(), inputs_.end());
    const auto derived = derive_cases(program, {.per_syscall = 2000, .total = kMostInputs}).inputs;
    out.insert(out.end(), derived.begin(), derived.end());
    return out;
  }

  // Sends the subject of an earlier finding.
  Result<Shown> try_known(const KnownSubject& known) {
    const Program& program = known.subject.before;
    if (refusal_of(program)) return Shown::kNothing;
    tried_ = inputs_for(program, true);
    tried_.insert(tried_.begin(), known.inputs.begin(), known.inputs.end());
    if (known.answer) tried_.insert(tried_.begin(), known.answer->data);
    const auto answer = evaluator_.evaluate(program, tried_);
    if (known.answer && answer.ok()) findings_.compare_with_recorded(known, answer.value.front());
    return take(known.subject, answer, false);
  }

  Result<Ok> examine(Trial& trial) {
    ++report_.trials;
    findings_.tried(trial.subject);
    if (!may_run(trial)) {
      leave_out(trial.original,
                "the program is longer than 4096 instructions, so the kernel would refuse it");
      return Ok{};
    }
    if (evaluator_.at_once() == 1) request(trial);
    tried_ = std::move(trial.inputs);
    const auto& answer = trial.answer;
    // If the user stops the hunt, the request is abandoned. That is not a finding about the target.
    if (answer.outcome == Outcome::kHung && options_.stop && options_.stop()) {
      unanswered_ = unanswered(report_, report_.trials, trial.subject, answer.seconds);
      return Ok{};
    }
    if (answer.outcome == Outcome::kUnsupported) {
      leave_out(trial.original, answer.detail);
      return Ok{};
    }
    if (answer.ok()) {
      ++report_.answered;
      report_.evaluations += tried_.size();
    }
    RETURN_IF_ERROR(take(trial.subject, answer));
    return Ok{};
  }

  // If an answer for `tried_` has a problem, passes the problem to the findings.
  Result<Shown> take(const HuntSubject& subject, const Answer<std::vector<std::uint32_t>>& answer,
                     bool is_trial = true) {
    if (!std::exchange(started_, true) && answer.outcome == Outcome::kCannotRun)
      return cannot_start(report_.target, answer.detail);
    if (answer.outcome == Outcome::kUnsupported) return Shown::kNothing;
    auto problem = problem_with(subject.before, tried_, answer, options_.assess.sameness);
    if (!problem) return Shown::kRight;
    Finding finding =
        findings_.finding(std::move(*problem), subject, report_.trials, seconds_since(start_));
    finding.count = is_trial ? 1 : 0;
    RETURN_IF_ERROR(findings_.take(std::move(finding)));
    return Shown::kProblem;
  }

  // Returns the input that showed the finding, if there is one, then random inputs. Equal programs
  // get the same random inputs.
  std::vector<SeccompData> inputs_like(const Finding& finding, ProgramView program) const {
    Random random(1);
    auto out = random_inputs(random, program, options_.inputs);
    if (finding.witness) out.insert(out.begin(), finding.witness->data);
    return out;
  }

  // Sends the finding's subject again, as FindingTools describes.
  Result<Shown> again(Finding& finding) {
    const auto inputs = inputs_like(finding, finding.subject.before);
    const auto answer = evaluator_.evaluate(finding.subject.before, inputs);
    if (answer.outcome == Outcome::kUnsupported || (options_.stop && options_.stop()))
      return Shown::kNothing;
    auto problem = problem_with(finding.subject.before, inputs, answer, options_.assess.sameness);
    if (!problem) return Shown::kRight;
    set_problem(finding, std::move(*problem));
    return Shown::kProblem;
  }

  // Compares the evaluator's values with those of programs, as FindingTools describes.
  ActsLike behaviour(const Finding& finding) {
    const auto inputs = inputs_like(finding, finding.subject.before);
    const auto answer = evaluator_.evaluate(finding.subject.before, inputs);
    return [this, inputs, answer](ProgramView program) {
      return answer.ok() && !problem_with(program, inputs, answer, options_.assess.sameness);
    };
  }

  // Minimizes the input that shows the difference, together with the program.
  Finding reduce(Finding finding, const Wanted& wanted) {
    const auto start = Clock::now();
    const double seconds = options_.seconds - seconds_since(start_);
    std::size_t requests = 0;
    bool ended = false;
    const auto stop = [&] {
      ended = ended || requests >= steps_to_reduce(options_, finding) ||
              seconds_since(start) > seconds || (options_.stop && options_.stop());
      return ended;
    };
    std::vector<SeccompData> asked = inputs_like(finding, finding.subject.before);
    if (finding.trial == report_.trials) asked = tried_;
    if (finding.witness) asked = {finding.witness->data};
    const bool foreign =
        has_foreign_value(finding.subject.before, finding.witness, options_.assess.sameness);
    const auto problem_of = [&](ProgramView program) -> std::optional<Problem> {
      if (stop()) return std::nullopt;
      ++requests;
      auto problem = problem_with(program, asked, evaluator_.evaluate(program, asked),
                                  options_.assess.sameness);
      if (!problem || !same_manner(*problem, finding) || (options_.stop && options_.stop()) ||
          has_foreign_value(program, problem->witness, options_.assess.sameness) != foreign)
        return std::nullopt;
      return problem;
    };
    std::optional<Problem> last;
    ShorterRequests shorter(options_, finding.kind);
    const auto shrunk = shrink(finding.subject.before,
                               [&](ProgramView program) {
                                 if (!wanted({{}, {}, Program(program.begin(), program.end())}))
                                   return false;
                                 auto problem = problem_of(program);
                                 if (!problem) return false;
                                 last = std::move(problem);
                                 return true;
                               },
                               {.stop = stop});
    shorter.end();
    if (last && finding.kind == FindingKind::kHung) {
      const auto whole = evaluator_.evaluate(shrunk.result, asked);
      if (whole.outcome != Outcome::kHung) {
        finding.detail += " (not reduced: smaller requests take long, but do not hang)";
        return finding;
      }
      last->detail = whole.detail;  // with the whole time limit
    }
    if (!last) {
      finding.detail += ended ? " (not reduced: the time ran out)"
                              : " (not reduced: the failure did not happen again)";
      finding.repeated = ended;
      return finding;
    }
    finding.subject.before = shrunk.result;
    finding.detail = last->detail;
    finding.cause = last->cause;
    finding.witness = last->witness;
    if (finding.witness) make_input_small(finding, problem_of, asked);
    finding.reduced = shrunk.end == ShrinkEnd::kMinimal && !ended;
    return finding;
  }

  template <class ProblemOf>
  void make_input_small(Finding& finding, const ProblemOf& problem_of,
                        std::vector<SeccompData>& asked) {
    const auto shows = [&](const SeccompData& data) -> std::optional<Witness> {
      asked = {data};
      const auto problem = problem_of(finding.subject.before);
      return problem ? problem->witness : std::nullopt;
    };
    finding.witness = minimize(*finding.witness, shows);
    // One request is enough, because it reports the first input with a wrong value.
    asked = with_named_calls(finding.witness->data);
    if (!asked.empty())
      if (const auto named = problem_of(finding.subject.before)) finding.witness = named->witness;
    finding.detail =
        differs(finding.witness->data, finding.witness->before, finding.witness->after).detail;
  }

  Evaluator& evaluator_;
  ProgramSource& source_;
  std::span<const SeccompData> inputs_;
  const HuntOptions& options_;
  Random random_;
  std::vector<SeccompData> tried_;  // the inputs of the last trial
  bool started_ = false;            // a request was answered or failed
  std::string unanswered_;
  Clock::time_point start_ = Clock::now();
  HuntReport report_;
  Findings findings_{
      report_,
      options_,
      {[this](Finding& finding) { return again(finding); },
       [this](const Finding& finding, const Wanted& wanted) {
         // The shorter time limit is only for the requests of the reduction.
         const Ahead::Pause pause(finding.kind == FindingKind::kHung ? ahead_ : nullptr);
         return Result<Finding>(reduce(finding, wanted));
       },
       [this](const Finding& finding) { return behaviour(finding); }}};
  Originals originals_{source_.originals()};
  Ahead* ahead_ = nullptr;  // while requests run ahead
};

}  // namespace

Result<HuntReport> hunt_evaluator(const std::string& name, Evaluator& evaluator,
                                  ProgramSource& source, std::span<const SeccompData> inputs,
                                  const HuntOptions& options) {
  return EvaluatorHunt(name, evaluator, source, inputs, options).run();
}

}  // namespace secequiv::hunt
