#include "verify/hunt/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "harness/base/clock.h"
#include "harness/bpf/check.h"
#include "harness/generate/random_program.h"
#include "harness/policy/cases.h"
#include "harness/policy/json.h"
#include "verify/hunt/ledger.h"
#include "verify/hunt/reduce.h"
#include "verify/hunt/scaling.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostBatch = 256;
constexpr double kBatchSeconds = 0.05;  // how long a batch should take, so that limits are kept
constexpr std::uint64_t kRepeatEvery = 16;

class Hunt {
 public:
  Hunt(const Target& target, Subjects& subjects, const HuntOptions& options)
      : target_(target), subjects_(subjects), options_(options) {
    report_.target = target.name;
    report_.kind = target.optimizer != nullptr ? "optimizer" : "compiler";
    report_.subjects = subjects.describe();
    report_.seed = options.seed;
  }

  Result<HuntReport> run() {
    std::size_t batch = 1;
    while (!finished()) {
      const auto start = Clock::now();
      const std::uint64_t left = options_.trials - report_.trials;
      if (auto s = try_batch(static_cast<std::size_t>(std::min<std::uint64_t>(batch, left))); !s)
        return s.error();
      const double seconds = seconds_since(start);
      if (seconds < kBatchSeconds / 2) batch = std::min(2 * batch, kMostBatch);
      if (seconds > kBatchSeconds) batch = std::max<std::size_t>(batch / 2, 1);
      report_.seconds = seconds_since(start_);
      if (options_.progress) options_.progress(report_);
    }
    if (options_.scaling && target_.optimizer != nullptr && !stopped()) measure();
    report_.seconds = seconds_since(start_);
    std::ranges::sort(report_.findings, {}, [](const Finding& finding) {
      return std::tuple(!finding.failure, finding.kind, finding.trial);
    });
    conclude(report_, options_, originals_undecided_);
    return std::move(report_);
  }

 private:
  struct Trial {
    std::uint64_t number;
    bool original;
    HuntSubject subject;
    Answer<Program> answer;
  };

  // Of its own for each trial, so that what a seed gives does not depend on how fast we are.
  Random random_for(std::uint64_t trial, std::uint64_t purpose) const {
    return Random(Random(options_.seed).next() ^ (2 * trial + purpose) * 0xd1342543de82ef95);
  }

  bool stopped() {
    report_.interrupted = report_.interrupted || (options_.stop && options_.stop());
    return report_.interrupted;
  }

  // Whatever a user gave is tried before time counts.
  bool finished() {
    if (stopped() || report_.trials >= options_.trials) return true;
    if (options_.stop_at_first && ledger_.failed()) return true;
    return report_.trials >= subjects_.originals() && seconds_since(start_) >= options_.seconds;
  }

  Result<Ok> try_batch(std::size_t size) {
    std::vector<Trial> trials(size);
    for (Trial& trial : trials) {
      trial.number = ++report_.trials;
      trial.original = trial.number <= subjects_.originals();
      Random random = random_for(trial.number, 0);
      trial.subject = subjects_.next(random);
    }
    answer(trials);
    for (const Trial& trial : trials) {
      if (auto s = examine(trial); !s) return s.error();
      if (options_.stop_at_first && ledger_.failed()) return Ok{};
    }
    if (!options_.repeat) return Ok{};
    for (const Trial& trial : trials) {
      if (!trial.original && trial.number % kRepeatEvery != 0) continue;
      if (auto s = ask_again(trial); !s) return s.error();
    }
    return Ok{};
  }

  void answer(std::vector<Trial>& trials) {
    if (target_.optimizer == nullptr) {
      for (Trial& trial : trials) trial.answer = ask(target_, trial.subject);
      return;
    }
    std::vector<Program> programs;
    programs.reserve(trials.size());
    for (const Trial& trial : trials) programs.push_back(trial.subject.before);
    auto answers = target_.optimizer->optimize_all(programs);
    for (std::size_t i = 0; i < trials.size(); ++i) trials[i].answer = std::move(answers[i]);
  }

  std::vector<InputWords> inputs_for(const Trial& trial) {
    Random random = random_for(trial.number, 1);
    if (!trial.original) return random_inputs(random, trial.subject.before, options_.inputs);
    std::vector<SeccompData> derived =
        derive_cases(trial.subject.before, {.per_syscall = 2000, .total = 50000}).inputs;
    if (!trial.subject.policy.empty())
      if (const auto policy = read_policy(trial.subject.policy, trial.subject.name)) {
        const auto more = derive_cases(*policy, {.per_syscall = 2000, .total = 50000}).inputs;
        derived.insert(derived.end(), more.begin(), more.end());
      }
    std::vector<InputWords> out;
    out.reserve(derived.size());
    for (const SeccompData& data : derived) out.push_back(data.words);
    return out;
  }

  Result<Ok> examine(const Trial& trial) {
    if (trial.answer.outcome == Outcome::kUnsupported) {
      ++report_.unsupported;
      if (report_.unsupported_example.empty()) report_.unsupported_example = trial.answer.detail;
      return Ok{};
    }
    report_.answered += trial.answer.ok() ? 1 : 0;
    JudgeOptions judging = options_.judge;
    judging.thorough = trial.original;
    auto judgement = judge(trial.subject.before, trial.answer, inputs_for(trial), judging);
    if (!judgement) return judgement.error();
    report_.evaluations += judgement->evaluations;
    if (judgement->problem) return found(trial, std::move(*judgement->problem));
    report_.proven += judgement->proven ? 1 : 0;
    if (!judgement->proven) {
      ++report_.undecided;
      originals_undecided_ += trial.original ? 1 : 0;
    }
    if (!judgement->grew) return Ok{};
    return note(trial, FindingKind::kGrew);
  }

  Result<Ok> ask_again(const Trial& trial) {
    if (!trial.answer.ok() || check(trial.answer.value, LengthRule::kUnlimited)) return Ok{};
    ++report_.repeated;
    const auto again = ask(target_, trial.subject);
    if (again.ok() && again.value != trial.answer.value)
      return note(trial, FindingKind::kNondeterministic);
    if (target_.optimizer == nullptr) return Ok{};
    const auto twice = target_.optimizer->optimize(trial.answer.value);
    if (twice.ok() && twice.value != trial.answer.value)
      return note(trial, FindingKind::kNotIdempotent);
    return Ok{};
  }

  Result<Ok> note(const Trial& trial, FindingKind kind) {
    return found(trial, Problem{kind, {}, "answer", {}});
  }

  Result<Ok> found(const Trial& trial, Problem problem) {
    Finding finding =
        ledger_.finding(std::move(problem), trial.subject, trial.number, seconds_since(start_));
    if (trial.answer.ok()) finding.after = trial.answer.value;
    if (!ledger_.wants(finding)) return Ok{};
    auto reduced = reduce(target_, finding, options_);
    if (!reduced) return reduced.error();
    ledger_.add(std::move(*reduced));
    return Ok{};
  }

  void measure() {
    report_.scaling = measure_scaling(*target_.optimizer, options_);
    for (const ScalingRow& row : report_.scaling) {
      const auto slow = too_slow(row);
      if (!slow) continue;
      Finding finding =
          ledger_.finding(Problem{FindingKind::kSlow, *slow, "scaling", {}},
                          HuntSubject{row.family, {}, {}}, report_.trials, seconds_since(start_));
      if (ledger_.wants(finding)) ledger_.add(std::move(finding));
    }
  }

  const Target& target_;
  Subjects& subjects_;
  const HuntOptions& options_;
  Clock::time_point start_ = Clock::now();
  HuntReport report_;
  Ledger ledger_{report_, options_};
  std::uint64_t originals_undecided_ = 0;
};

}  // namespace

Answer<Program> ask(const Target& target, const HuntSubject& subject) {
  return target.optimizer != nullptr ? target.optimizer->optimize(subject.before)
                                     : target.compiler->compile(subject.policy);
}

Result<HuntReport> hunt(const Target& target, Subjects& subjects, const HuntOptions& options) {
  return Hunt(target, subjects, options).run();
}

void conclude(HuntReport& report, const HuntOptions& options, std::uint64_t originals_undecided) {
  // The first of these that was found decides.
  constexpr std::array<std::pair<FindingKind, Verdict>, 9> kWorst = {{
      {FindingKind::kDifferent, Verdict::kDifferent},
      {FindingKind::kCrashed, Verdict::kCrashed},
      {FindingKind::kHung, Verdict::kCrashed},
      {FindingKind::kExhausted, Verdict::kCrashed},
      {FindingKind::kGarbage, Verdict::kCrashed},
      {FindingKind::kRefused, Verdict::kCrashed},
      {FindingKind::kRejected, Verdict::kRejected},
      {FindingKind::kSlow, Verdict::kFail},
      {FindingKind::kCacheLoss, Verdict::kFail},
  }};
  for (const auto& [kind, verdict] : kWorst) {
    const auto at = std::ranges::find_if(report.findings, [&](const Finding& finding) {
      return finding.kind == kind && finding.failure;
    });
    if (at == report.findings.end()) continue;
    report.verdict = verdict;
    report.reason = fmt::format("{}: {}", finding_name(kind), at->detail);
    return;
  }
  if (report.answered == 0) {
    report.verdict = Verdict::kUnknown;
    report.reason = report.unsupported > 0 ? "nothing was tested: every request is unsupported"
                                           : "nothing was tested";
  } else if (report.interrupted) {
    report.verdict = Verdict::kUnknown;
    report.reason = fmt::format("interrupted after {} trials without a failure", report.trials);
  } else if (originals_undecided > 0 || (options.require_proof && report.undecided > 0)) {
    report.verdict = Verdict::kUnknown;
    report.reason =
        fmt::format("{} answers were compared on inputs only: equivalence is not decided",
                    options.require_proof ? report.undecided : originals_undecided);
  } else {
    report.verdict = Verdict::kPass;
    report.reason = fmt::format("no failure in {} answers, {} of them proven equivalent",
                                report.answered, report.proven);
  }
}

}  // namespace secequiv::hunt
