#include "fuzz/hunt/hunt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "fuzz/hunt/ahead.h"
#include "fuzz/hunt/findings.h"
#include "fuzz/hunt/jobs.h"
#include "fuzz/hunt/reduce.h"
#include "fuzz/hunt/scaling.h"
#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/generate/random_program.h"
#include "harness/inputs/cases.h"
#include "harness/policy/json.h"

namespace secequiv::hunt {
namespace {

constexpr std::size_t kMostChunk = 16;  // requests before the time is checked again
constexpr double kBatchSeconds = 0.05;  // intended time for one batch
// The intended time if requests run ahead. It is longer, because nothing runs ahead at the end of a
// batch, and because the loop checks the time several times in each batch.
constexpr double kAheadSeconds = 0.4;
constexpr std::uint64_t kRepeatEvery = 16;
constexpr double kMeasureAfter = 0.75;  // part of the time after which the growth is measured

unsigned requests_at_once(const Target& target) {
  return target.optimizer != nullptr ? target.optimizer->at_once() : target.compiler->at_once();
}

class Hunt {
 public:
  Hunt(const Target& target, ProgramSource& source, const HuntOptions& options)
      : target_(target), source_(source), options_(options) {}

  Result<HuntReport> run() {
    RETURN_IF_ERROR(findings_.learn_known([this](const auto& known) { return try_known(known); }));
    std::size_t batch = at_once_;
    const double intended = at_once_ > 1 ? kAheadSeconds : kBatchSeconds;
    while (!finished()) {
      if (report_.trials > 0 && report_.trials % kWindow == 0) begin_window();
      const auto start = Clock::now();
      const std::uint64_t left =
          std::max<std::uint64_t>(options_.trials, source_.originals()) - report_.trials;
      const std::uint64_t window = kWindow - report_.trials % kWindow;
      RETURN_IF_ERROR(try_batch(std::min<std::uint64_t>({batch, left, window})));
      const double seconds = seconds_since(start);
      if (seconds < intended / 2) batch = std::min<std::size_t>(2 * batch, kWindow);
      if (seconds > intended) batch = std::max<std::size_t>(batch / 2, at_once_);
      report_.seconds = seconds_since(start_);
      if (options_.progress) options_.progress(report_);
      RETURN_IF_ERROR(join_jobs(false));
      if (report_.seconds > kMeasureAfter * options_.seconds && report_.trials > originals_.count)
        RETURN_IF_ERROR(measure());
    }
    RETURN_IF_ERROR(measure());
    report_.shapes = source_.shapes();
    RETURN_IF_ERROR(join_jobs(true));
    findings_.end();
    report_.seconds = seconds_since(start_);
    conclude(report_, options_, originals_);
    report_.reason += unanswered_;
    return std::move(report_);
  }

 private:
  struct Trial {
    std::uint64_t number;
    bool original;
    HuntSubject subject;
    Answer<Program> answer;
    bool counted = true;  // false for a second request of a trial that is already counted
    std::size_t new_edges = 0;
    // Results of the requests that ask_again() makes, if they were sent ahead.
    std::optional<Answer<Program>> again = {};
    std::optional<Answer<Program>> twice = {};
  };

  // Each trial has its own generator, so that the programs of a seed do not depend on the machine's
  // speed.
  Random random_for(std::uint64_t trial, std::uint64_t purpose) const {
    return Random(Random(options_.seed).next() ^ (2 * trial + purpose) * 0xd1342543de82ef95);
  }

  bool stopped() {
    report_.interrupted = report_.interrupted || (options_.stop && options_.stop());
    return report_.interrupted;
  }

  // The user's own programs are tried even if the limits are reached.
  bool finished() {
    if (stopped() || finds_enough()) return true;
    if (report_.trials < source_.originals()) return false;
    return report_.trials >= options_.trials || out_of_time();
  }

  // Programs that reached new edges steer the programs of later windows, so that the programs of a
  // seed do not depend on the size of batches. The first window shows which edges are frequent.
  void begin_window() {
    for (const HuntSubject& subject : reached_) source_.reached(subject);
    reached_.clear();
    if (target_.optimizer == nullptr || report_.answered == 0 || asked_for_edges_) return;
    asked_for_edges_ = true;
    report_.feedback = target_.optimizer->report_edges();
  }

  [[nodiscard]] bool out_of_time() const { return seconds_since(start_) >= options_.seconds; }

  // Sends the subject of an earlier finding. Some notes show only if the request is repeated.
  Result<Shown> try_known(const KnownSubject& known) {
    const Trial trial{0, true, known.subject, ask(target_, known.subject), false};
    if (trial.answer.outcome == Outcome::kUnsupported || given_up(trial.answer))
      return Shown::kNothing;
    if (known.answer && trial.answer.ok() &&
        !refusal_of(trial.answer.value, LengthRule::kUnlimited))
      findings_.compare_with_recorded(known, secequiv::run(trial.answer.value, known.answer->data));
    auto shown = examine_answer(trial);
    if (!shown || *shown == Shown::kProblem || !options_.repeat) return shown;
    const auto repeated = ask_again(trial);
    return !repeated || *repeated != Shown::kRight ? repeated : shown;
  }

  Result<Ok> join_jobs(bool at_end) {
    if (options_.jobs == nullptr) return Ok{};
    return at_end ? options_.jobs->end(findings_, report_, options_)
                  : options_.jobs->join(findings_, report_);
  }

  Result<Ok> try_batch(std::size_t size) {
    std::vector<Trial> trials(size);
    std::uint64_t number = report_.trials;
    for (Trial& trial : trials) {
      trial.number = ++number;
      trial.original = trial.number <= source_.originals();
      Random random = random_for(trial.number, 0);
      trial.subject = source_.next(random);
      if (findings_.take_known_out_of(trial.subject, trial.number, trial.original))
        source_.changed(trial.subject);
    }
    std::optional<Ahead> ahead;
    if (at_once_ > 1)
      ahead.emplace(at_once_, trials.size(), [&](std::size_t i) { request(trials[i]); });
    else
      answer(trials);
    ahead_ = ahead ? &*ahead : nullptr;
    auto status = examine_all(trials);
    ahead_ = nullptr;
    return status;
  }

  // Examines each answer while later requests run.
  Result<Ok> examine_all(const std::vector<Trial>& trials) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const Trial& trial = trials[i];
      if (i > 0 && ahead_ != nullptr && out_of_time() && !trial.original) return Ok{};
      if (ahead_ != nullptr) ahead_->wait_for(i);
      RETURN_IF_ERROR(examine(trial));
      if (finds_enough() || stopped()) return Ok{};
      if (!options_.repeat || !is_repeated(trial) || (out_of_time() && !trial.original)) continue;
      RETURN_IF_ERROR(ask_again(trial));
      if (finds_enough() || stopped()) return Ok{};
    }
    return Ok{};
  }

  bool finds_enough() const { return options_.stop_at_first && findings_.failed(); }

  static bool is_repeated(const Trial& trial) {
    return trial.original || trial.number % kRepeatEvery == 0;
  }

  // Sends what a trial needs. Several threads call this.
  void request(Trial& trial) const {
    trial.answer = ask(target_, trial.subject);
    if (!options_.repeat || !is_repeated(trial) || !trial.answer.ok() ||
        refusal_of(trial.answer.value, LengthRule::kUnlimited))
      return;
    trial.again = ask(target_, trial.subject);
    if (target_.optimizer != nullptr && trial.again->ok() &&
        trial.again->value == trial.answer.value)
      trial.twice = target_.optimizer->optimize(trial.answer.value);
  }

  // Returns how many requests fit into the time that is left, even if each request hangs. Only the
  // last request may end after the hunt.
  [[nodiscard]] std::size_t requests_in_time() const {
    const double left = options_.seconds - seconds_since(start_);
    const double hangs = std::clamp(left / options_.request_seconds, 1.0, 1e6);
    return std::min(chunk_, static_cast<std::size_t>(hangs));
  }

  // Sends all requests, or only the first ones if the time ends or the user stops the hunt.
  void answer(std::vector<Trial>& trials) {
    std::size_t done = 0;
    while (done < trials.size() &&
           (done == 0 || !(stopped() || (out_of_time() && !trials[done].original)))) {
      const std::size_t end = std::min(done + requests_in_time(), trials.size());
      if (target_.optimizer == nullptr) {
        trials[done].answer = ask(target_, trials[done].subject);
        ++done;
        continue;
      }
      std::vector<Program> programs;
      for (std::size_t i = done; i < end; ++i) programs.push_back(trials[i].subject.before);
      auto answers = target_.optimizer->optimize_all(programs);
      const bool hung =
          std::ranges::find(answers, Outcome::kHung, &Answer<Program>::outcome) != answers.end();
      chunk_ = hung ? 1 : std::min(2 * chunk_, kMostChunk);
      const std::vector<std::size_t> edges = target_.optimizer->new_edges();
      for (std::size_t i = 0; i < answers.size(); ++i, ++done) {
        trials[done].answer = std::move(answers[i]);
        if (report_.feedback) trials[done].new_edges = edges[i];
      }
    }
    trials.resize(done);
  }

  std::vector<SeccompData> inputs_for(const Trial& trial) {
    Random random = random_for(trial.number, 1);
    if (!trial.original) return random_inputs(random, trial.subject.before, options_.inputs);
    std::vector<SeccompData> derived =
        derive_cases(trial.subject.before, {.per_syscall = 2000, .total = 50000}).inputs;
    if (!trial.subject.policy.empty())
      if (const auto policy = read_policy(trial.subject.policy, trial.subject.name)) {
        const auto more = derive_cases(*policy, {.per_syscall = 2000, .total = 50000}).inputs;
        derived.insert(derived.end(), more.begin(), more.end());
      }
    return derived;
  }

  // Returns whether the request was abandoned because the user stops the hunt. Such a request is no
  // finding about the target.
  bool given_up(const Answer<Program>& answer) {
    return answer.outcome == Outcome::kHung && stopped();
  }

  Result<Ok> examine(const Trial& trial) {
    if (given_up(trial.answer)) {
      unanswered_ = unanswered(report_, trial.number, trial.subject, trial.answer.seconds);
      return Ok{};
    }
    ++report_.trials;
    findings_.tried(trial.subject);
    if (trial.answer.outcome == Outcome::kUnsupported) {
      ++report_.unsupported;
      source_.unsupported(trial.number);
      originals_.unsupported += trial.original ? 1 : 0;
      if (report_.unsupported_example.empty()) report_.unsupported_example = trial.answer.detail;
      return Ok{};
    }
    report_.answered += trial.answer.ok() ? 1 : 0;
    if (trial.answer.ok() && trial.new_edges > 0) {
      report_.new_edges += trial.new_edges;
      ++report_.kept;
      reached_.push_back(trial.subject);
    }
    RETURN_IF_ERROR(examine_answer(trial));
    return Ok{};
  }

  // Examines the answer of a trial or of a second request that followed from it.
  Result<Shown> examine_answer(const Trial& trial) {
    if (!std::exchange(started_, true) && trial.answer.outcome == Outcome::kCannotRun)
      return cannot_start(report_.target, trial.answer.detail);
    AssessOptions how = options_.assess;
    how.thorough = trial.original;
    ASSIGN_OR_RETURN(auto assessment,
                     assess(trial.subject.before, trial.answer, inputs_for(trial), how));
    report_.evaluations += assessment.evaluations;
    const bool different =
        assessment.problem && assessment.problem->kind == FindingKind::kDifferent;
    if (trial.counted && trial.answer.ok() && !different) {
      report_.proven += assessment.proven ? 1 : 0;
      report_.undecided += assessment.proven ? 0 : 1;
      originals_.undecided += trial.original && !assessment.proven ? 1 : 0;
    }
    if (assessment.problem) return found(trial, std::move(*assessment.problem));
    if (assessment.grew) return note(trial, FindingKind::kGrew);
    return assessment.proven || !options_.assess.prover ? Shown::kRight : Shown::kNothing;
  }

  // Repeats the request, and also sends the answer as a new request. The hunt assesses both results
  // like any other answer. A repeated request without an answer gives no note.
  Result<Shown> ask_again(const Trial& trial) {
    if (!trial.answer.ok() || refusal_of(trial.answer.value, LengthRule::kUnlimited))
      return Shown::kNothing;
    ++report_.repeated;
    Trial again = trial;
    again.original = again.counted = false;
    again.answer = trial.again ? *trial.again : ask(target_, trial.subject);
    if (given_up(again.answer)) return Shown::kNothing;
    if (!again.answer.ok() || again.answer.value != trial.answer.value) {
      auto shown = examine_answer(again);
      return !shown || !again.answer.ok() ? shown : note(again, FindingKind::kNondeterministic);
    }
    if (target_.optimizer == nullptr) return Shown::kRight;
    const Trial twice{trial.number, false,
                      HuntSubject{trial.subject.name + ", its answer", {}, trial.answer.value},
                      trial.twice ? *trial.twice : target_.optimizer->optimize(trial.answer.value),
                      false};
    if (given_up(twice.answer) || twice.answer.outcome == Outcome::kUnsupported)
      return Shown::kNothing;
    if (twice.answer.ok() && twice.answer.value == trial.answer.value) return Shown::kRight;
    auto shown = examine_answer(twice);
    return !shown || !twice.answer.ok() ? shown : note(trial, FindingKind::kNotIdempotent);
  }

  Result<Shown> note(const Trial& trial, FindingKind kind) {
    return found(trial, Problem{kind, {}, "answer", {}});
  }

  Result<Shown> found(const Trial& trial, Problem problem) {
    Finding finding =
        findings_.finding(std::move(problem), trial.subject, trial.number, seconds_since(start_));
    finding.count = trial.counted ? 1 : 0;
    if (trial.answer.ok()) finding.after = trial.answer.value;
    RETURN_IF_ERROR(set_pass(finding, trial.answer));
    RETURN_IF_ERROR(findings_.take(std::move(finding)));
    return Shown::kProblem;
  }

  Result<Ok> set_pass(Finding& finding, const Answer<Program>& answer) {
    std::vector<SeccompData> inputs;
    if (finding.witness) inputs.push_back(finding.witness->data);
    ASSIGN_OR_RETURN(auto pass,
                     pass_of(target_, finding.kind, finding.subject, answer, inputs, options_));
    finding.pass = std::move(pass);
    return Ok{};
  }

  // Sends the finding's subject again, as FindingTools describes.
  Result<Shown> again(Finding& finding) {
    const Answer<Program> answer = ask(target_, finding.subject);
    if (answer.outcome == Outcome::kUnsupported || given_up(answer)) return Shown::kNothing;
    ASSIGN_OR_RETURN(
        auto assessment,
        assess(finding.subject.before, answer,
               inputs_like(finding.subject, finding.witness, options_), options_.assess));
    if (!assessment.problem)
      return assessment.proven || !options_.assess.prover ? Shown::kRight : Shown::kNothing;
    set_problem(finding, std::move(*assessment.problem));
    finding.after.reset();
    if (answer.ok()) finding.after = answer.value;
    RETURN_IF_ERROR(set_pass(finding, answer));
    return Shown::kProblem;
  }

  void add_slow(bool known) {
    const auto slow = slow_families(report_.scaling, options_.known_slow, known);
    if (!slow) return;
    Finding finding =
        findings_.finding(Problem{FindingKind::kSlow, slow->detail, "scaling", {}},
                          HuntSubject{slow->worst, {}, {}}, report_.trials, seconds_since(start_));
    finding.count = 0;
    finding.known = known;
    finding.failure = finding.failure && !known;
    findings_.add(std::move(finding));
  }

  // Compares the answer with programs, as FindingTools describes.
  ActsLike behaviour(const Finding& finding) {
    if (!finding.after) return [](ProgramView) { return false; };
    // A lost call does not change decisions, so the cached calls must be the same, too.
    const bool cache = finding.kind == FindingKind::kCacheLoss;
    AssessOptions how = options_.assess;
    how.cache = cache;
    Random random(1);
    auto inputs = random_inputs(random, finding.subject.before, 64);
    if (finding.witness) inputs.push_back(finding.witness->data);
    Answer<Program> answer;
    answer.value = *finding.after;
    return [how, inputs, answer, cache](ProgramView program) {
      const ProgramView before = answer.value;
      const auto assessment = assess(program, answer, inputs, how);
      return assessment && !assessment->problem &&
             (!cache || lost_calls({&before, 1}, program).empty());
    };
  }

  // Answers to the programs of the measurement are assessed, too. The second call does nothing.
  Result<Ok> measure() {
    const bool enough = stopped() || finds_enough();
    if (!options_.scaling || target_.optimizer == nullptr || enough || measured_) return Ok{};
    measured_ = true;
    Result<Ok> status = Ok{};
    HuntOptions limited = options_;
    limited.stop = [this] { return stopped() || out_of_time(); };
    report_.scaling = measure_scaling(
        *target_.optimizer, limited,
        [&](const std::string& family, const Program& program, const Answer<Program>& answer) {
          if (answer.outcome == Outcome::kUnsupported || given_up(answer) || !status) return;
          const auto shown = examine_answer(
              Trial{report_.trials, false, HuntSubject{family, {}, program}, answer, false});
          if (!shown) status = shown.error();
        });
    if (!status) return status;
    add_slow(false);
    add_slow(true);
    return Ok{};
  }

  const Target& target_;
  ProgramSource& source_;
  const HuntOptions& options_;
  Clock::time_point start_ = Clock::now();
  HuntReport report_ = new_report(
      target_.name, target_.optimizer != nullptr ? "optimizer" : "compiler", source_, options_);
  Findings findings_{
      report_,
      options_,
      {[this](Finding& finding) { return again(finding); },
       [this](const Finding& finding, const Wanted& wanted) {
         // The shorter time limit is only for the requests of the reduction.
         const Ahead::Pause pause(finding.kind == FindingKind::kHung ? ahead_ : nullptr);
         return reduce(target_, finding, options_, wanted,
                       options_.seconds - seconds_since(start_));
       },
       [this](const Finding& finding) { return behaviour(finding); }}};
  Originals originals_{source_.originals()};
  bool started_ = false;  // a request was answered or failed
  std::string unanswered_;
  bool asked_for_edges_ = false;
  std::vector<HuntSubject> reached_;  // in this window
  std::size_t chunk_ = 1;
  unsigned at_once_ = requests_at_once(target_);
  Ahead* ahead_ = nullptr;  // while requests run ahead
  bool measured_ = false;
};

// Sets the verdict and the reason of a report with failures, or returns false.
bool conclude_failed(HuntReport& report) {
  // The first kind in this list that occurs among the findings determines the verdict.
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
    const auto described = [&](const Finding& finding) {
      return finding_name(finding.kind) == verdict_name(verdict)
                 ? finding.detail
                 : fmt::format("{}: {}", finding_name(finding.kind), finding.detail);
    };
    report.reason = described(*at);
    if (report.answered == 0 && report.unsupported == 0)
      report.reason =
          (report.trials == 1
               ? "the only request failed: "
               : fmt::format("every one of {} requests failed; the first one: ", report.trials)) +
          described(*std::ranges::min_element(report.findings, {}, &Finding::trial));
    if (!report.lost.empty()) report.reason += "; " + report.lost;
    return true;
  }
  return false;
}

std::string why_nothing_was_tested(const HuntReport& report) {
  if (report.unsupported > 0) return "nothing was tested, because every request is unsupported";
  if (report.interrupted) return "interrupted before anything was tested";
  if (report.knows_earlier && report.trials == 0)
    return "nothing was tested: the time ran out while the known findings were tried";
  return "nothing was tested";
}

// Returns which files were not tested, or "".
std::string unread_reason(const std::vector<UnreadFile>& unread) {
  constexpr std::size_t kShown = 4;
  if (unread.empty()) return {};
  return fmt::format(
      "{} of the given folders cannot be read: {}", counted(unread.size(), "file"),
      first_and_count(unread, kShown, [](const UnreadFile& file) { return file.path; }));
}

// Returns why a report without failures is no pass, or "".
std::string undecided_reason(const HuntReport& report, const HuntOptions& options,
                             const Originals& originals) {
  if (report.answered == 0) return why_nothing_was_tested(report);
  if (!report.lost.empty()) return report.lost;
  if (report.interrupted)
    return fmt::format("interrupted after {} without a failure", counted(report.trials, "trial"));
  if (report.evaluations == 0 && report.proven == 0)
    return "nothing was compared: no input was run, and nothing was proven";
  if (const auto open = std::ranges::count_if(report.findings, &Finding::may_be_known); open > 0)
    return fmt::format("{} may be known: it is unknown whether the cause is new",
                       counted(static_cast<std::uint64_t>(open), "failure"));
  if (report.not_reduced > 0)
    return fmt::format(
        "{} could not be compared with the known findings in time, so it is unknown whether "
        "the cause is new",
        counted(report.not_reduced, "failure"));
  if (!report.unread.empty()) return unread_reason(report.unread);
  if (originals.unsupported > 0)
    return fmt::format("the code under test does not support {} of {}: {}", originals.unsupported,
                       counted(originals.count, "given file"), report.unsupported_example);
  if (originals.undecided > 0 || (options.require_proof && report.undecided > 0))
    return fmt::format(
        "equivalence is undecided for {}: no proof succeeded",
        counted(options.require_proof ? report.undecided : originals.undecided, "answer"));
  return {};
}

}  // namespace

Answer<Program> ask(const Target& target, const HuntSubject& subject) {
  if (target.optimizer != nullptr) return target.optimizer->optimize(subject.before);
  const auto policy = read_policy(subject.policy, subject.name);
  if (!policy) return {Outcome::kRefused, {}, policy.error().text(), 0};
  return target.compiler->compile(*policy);
}

Error cannot_start(const std::string& target, const std::string& detail) {
  return make_error(ErrorCode::kUsage, target, "this command cannot be started: " + detail);
}

std::size_t steps_to_reduce(const HuntOptions& options, const Finding& finding) {
  constexpr std::size_t kHanging = 200;  // each takes a twentieth of a request's time limit
  // Each request starts the code under test again. Few suffice, because the message alone
  // distinguishes a known crash from others.
  constexpr std::size_t kKnownCrash = 50;
  if (finding.kind == FindingKind::kHung) return std::min(kHanging, options.reduce_steps);
  const bool known = finding.known && finding.kind == FindingKind::kCrashed;
  return known ? std::min(kKnownCrash, options.reduce_steps) : options.reduce_steps;
}

Result<HuntReport> hunt(const Target& target, ProgramSource& source, const HuntOptions& options) {
  return Hunt(target, source, options).run();
}

HuntReport new_report(std::string target, std::string kind, const ProgramSource& source,
                      const HuntOptions& options) {
  HuntReport out;
  out.target = std::move(target);
  out.kind = std::move(kind);
  out.subjects = source.describe();
  out.unread = source.unread();
  out.seed = options.seed;
  out.replay_options = options.replay_options;
  out.limit_seconds = options.seconds;
  out.request_seconds = options.request_seconds;
  out.knows_earlier = !options.known.empty();
  return out;
}

void set_problem(Finding& finding, Problem problem) {
  finding.kind = problem.kind;
  finding.detail = std::move(problem.detail);
  finding.cause = std::move(problem.cause);
  finding.rule = problem.rule;
  finding.witness = problem.witness;
}

std::string unanswered(const HuntReport& report, std::uint64_t trial, const HuntSubject& subject,
                       double seconds) {
  return fmt::format("; '{}' had not answered trial {} ({}, {}) after {:.1f} s", report.target,
                     trial, subject.name, counted(subject.before.size(), "instruction"), seconds);
}

void conclude(HuntReport& report, const HuntOptions& options, const Originals& originals) {
  std::ranges::sort(report.findings, {}, [](const Finding& finding) {
    return std::tuple(!finding.failure, finding.kind, finding.trial);
  });
  if (conclude_failed(report)) return;
  report.reason = undecided_reason(report, options, originals);
  report.verdict = report.reason.empty() ? Verdict::kPass : Verdict::kUnknown;
  if (report.verdict == Verdict::kPass)
    report.reason = fmt::format("no {}failure in {}, {} of them proven equivalent",
                                report.knows_earlier ? "new " : "",
                                counted(report.answered, "answer"), report.proven);
}

}  // namespace secequiv::hunt
