#include "fuzz/hunt/evaluators.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/hunt/findings.h"
#include "fuzz/hunt/shape.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/random_program.h"
#include "harness/generate/shrink.h"
#include "harness/inputs/cases.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostInputs = 20000;  // for a given program, all in one request

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
        random_(options.seed) {
    report_.target = name;
    report_.kind = "evaluator";
    report_.subjects = source.describe();
    report_.seed = options.seed;
    report_.replay_options = options.replay_options;
  }

  HuntReport run() {
    auto shown = start_;
    while (!finished()) {
      const bool original = report_.trials < source_.originals();
      ++report_.trials;
      const HuntSubject subject = source_.next(random_);
      if (refusal_of(subject.before)) {
        leave_out(original,
                  "the program is longer than 4096 instructions, so the kernel would refuse it");
        continue;
      }
      examine(subject, original);
      report_.seconds = seconds_since(start_);
      if (!options_.progress || seconds_since(shown) < 0.1) continue;
      options_.progress(report_);
      shown = Clock::now();
    }
    report_.seconds = seconds_since(start_);
    conclude(report_, options_, originals_);
    if (report_.verdict == Verdict::kPass)
      report_.reason =
          fmt::format("no failure in {} of {}", counted(report_.evaluations, "evaluation"),
                      counted(report_.answered, "program"));
    return std::move(report_);
  }

 private:
  // The user's own programs are tried even if the limits are reached.
  bool finished() {
    report_.interrupted = report_.interrupted || (options_.stop && options_.stop());
    if (report_.interrupted || (options_.stop_at_first && findings_.failed())) return true;
    if (report_.trials < source_.originals()) return false;
    return report_.trials >= options_.trials || seconds_since(start_) >= options_.seconds;
  }

  void leave_out(bool original, const std::string& why) {
    ++report_.unsupported;
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

  void examine(const HuntSubject& subject, bool original) {
    const auto inputs = inputs_for(subject.before, original);
    const auto answer = evaluator_.evaluate(subject.before, inputs);
    // If the user stops the hunt, the request is abandoned. That is not a finding about the target.
    if (answer.outcome == Outcome::kHung && options_.stop && options_.stop()) return;
    if (answer.outcome == Outcome::kUnsupported) {
      leave_out(original, answer.detail);
      return;
    }
    if (answer.ok()) {
      ++report_.answered;
      report_.evaluations += inputs.size();
    }
    auto problem = problem_with(subject.before, inputs, answer, options_.assess.sameness);
    if (!problem) return;
    Finding finding =
        findings_.finding(std::move(*problem), subject, report_.trials, seconds_since(start_));
    if (!findings_.wants(finding)) return;
    reduce(finding, inputs);
    findings_.add(std::move(finding));
  }

  // Minimizes the input that shows the difference, together with the program.
  void reduce(Finding& finding, const std::vector<SeccompData>& inputs) {
    const auto start = Clock::now();
    double seconds = options_.reduce_seconds;
    if (finding.kind == FindingKind::kHung)
      seconds = std::max(seconds, 12 * options_.request_seconds);
    bool timed_out = false;
    std::vector<SeccompData> asked = inputs;
    if (finding.witness) asked = {finding.witness->data};
    const auto problem_of = [&](ProgramView program) -> std::optional<Problem> {
      timed_out = timed_out || seconds_since(start) > seconds || (options_.stop && options_.stop());
      if (timed_out) return std::nullopt;
      auto problem = problem_with(program, asked, evaluator_.evaluate(program, asked),
                                  options_.assess.sameness);
      if (!problem || problem->kind != finding.kind || (options_.stop && options_.stop()))
        return std::nullopt;
      if (problem->kind == FindingKind::kCrashed && signature_of(problem->detail, problem->cause) !=
                                                        signature_of(finding.detail, finding.cause))
        return std::nullopt;
      return problem;
    };
    std::optional<Problem> last;
    const auto shrunk = shrink(finding.subject.before,
                               [&](ProgramView program) {
                                 auto problem = problem_of(program);
                                 if (!problem) return false;
                                 last = std::move(problem);
                                 return true;
                               },
                               {.calls = 20'000});
    if (!last) {
      finding.detail += timed_out ? " (not reduced: the time ran out)"
                                  : " (not reduced: it did not happen again)";
      return;
    }
    finding.subject.before = shrunk.result;
    finding.detail = last->detail;
    finding.cause = last->cause;
    finding.witness = last->witness;
    if (finding.witness) make_input_small(finding, problem_of, asked);
    finding.reduced = shrunk.end == ShrinkEnd::kMinimal && !timed_out;
  }

  template <class ProblemOf>
  void make_input_small(Finding& finding, const ProblemOf& problem_of,
                        std::vector<SeccompData>& asked) {
    finding.witness =
        minimize(*finding.witness, [&](const SeccompData& data) -> std::optional<Witness> {
          asked = {data};
          const auto problem = problem_of(finding.subject.before);
          return problem ? problem->witness : std::nullopt;
        });
    finding.detail =
        differs(finding.witness->data, finding.witness->before, finding.witness->after).detail;
  }

  Evaluator& evaluator_;
  ProgramSource& source_;
  std::span<const SeccompData> inputs_;
  const HuntOptions& options_;
  Random random_;
  Clock::time_point start_ = Clock::now();
  HuntReport report_;
  Findings findings_{report_, options_};
  Originals originals_{source_.originals()};
};

}  // namespace

Result<HuntReport> hunt_evaluator(const std::string& name, Evaluator& evaluator,
                                  ProgramSource& source, std::span<const SeccompData> inputs,
                                  const HuntOptions& options) {
  return EvaluatorHunt(name, evaluator, source, inputs, options).run();
}

}  // namespace secequiv::hunt
