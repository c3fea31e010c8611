// Owns the loop that fuzzes an optimizer or a compiler of filters: it sends programs, assesses
// every answer, and decides which requests are repeated and when findings are reduced. It must not
// know how a finding is reduced (reduce.h) or an answer assessed (assess.h).
#pragma once

#include <functional>
#include <set>
#include <string>

#include "fuzz/hunt/assess.h"
#include "fuzz/hunt/program_source.h"

namespace secequiv::hunt {

class Jobs;

// What is under test: exactly one of `optimizer` and `compiler` is set.
struct Target {
  std::string name;
  Optimizer* optimizer = nullptr;
  Compiler* compiler = nullptr;
};

struct HuntOptions {
  std::uint64_t seed = 1;
  double seconds = 60;           // no trial and no reduction goes on after this time
  std::uint64_t trials = ~0ull;  // limit; programs that the user named are always tried
  // Number of inputs for each generated program. Programs that the user named get derived inputs.
  std::size_t inputs = 24;
  std::size_t reduce_steps = 5'000;  // limit for each reduction, in requests
  double request_seconds = 10;       // the adapter's time limit, for reducing hangs
  // If set, a request that takes this time counts as hung (AdapterLimits::shorter).
  std::shared_ptr<double> shorter;
  bool repeat = true;          // send some requests twice
  bool scaling = true;         // measure how time grows (optimizers only)
  bool stop_at_first = false;  // end at the first failure
  // The hunt does not pass if a program is undecided. Programs that the user named always need a
  // proof.
  bool require_proof = false;
  AssessOptions assess;
  std::set<FindingKind> allowed;  // kinds that are only noted
  // Subjects of earlier findings. The failures that they show are known and do not fail the hunt.
  std::vector<KnownSubject> known;
  std::set<std::string, std::less<>> known_slow;  // families of programs (scaling.h)
  std::function<bool()> stop;                     // called every few requests; true ends the hunt
  std::function<void(const HuntReport&, Finding&)> found;  // called for each new finding
  std::string replay_options;                       // for replay commands, like " --form ddd"
  std::function<void(const HuntReport&)> progress;  // called regularly
  Jobs* jobs = nullptr;                             // other processes that also hunt
  bool for_another = false;  // another process joins the findings of this one
};

// Returns whether a reduction may continue with this subject.
using Wanted = std::function<bool(const HuntSubject&)>;

// Returns the maximum number of requests of one reduction. A limit of requests, unlike one of time,
// lets a seed give the same findings on every machine.
std::size_t steps_to_reduce(const HuntOptions& options, const Finding& finding);

// Gives requests a twentieth of their time limit while a hang is reduced, because most steps of the
// reduction hang, too.
class ShorterRequests {
 public:
  ShorterRequests(const HuntOptions& options, FindingKind kind)
      : shorter_(kind == FindingKind::kHung ? options.shorter : nullptr) {
    if (shorter_) *shorter_ = options.request_seconds / 20;
  }
  ~ShorterRequests() { end(); }
  ShorterRequests(const ShorterRequests&) = delete;
  ShorterRequests& operator=(const ShorterRequests&) = delete;
  void end() {
    if (shorter_) *shorter_ = 0;
  }

 private:
  std::shared_ptr<double> shorter_;
};

// Returns the kUsage error for a first request that shows that the shell cannot start the command.
Error cannot_start(const std::string& target, const std::string& detail);

// Runs the hunt. Errors: the prover's kInternal; kUsage if the command cannot be started.
Result<HuntReport> hunt(const Target& target, ProgramSource& source, const HuntOptions& options);

// Requests the answer of the target's optimizer or compiler.
Answer<Program> ask(const Target& target, const HuntSubject& subject);

// Returns the report of a hunt that has not begun.
HuntReport new_report(std::string target, std::string kind, const ProgramSource& source,
                      const HuntOptions& options);

// Replaces the problem that the finding states about the answer to its subject.
void set_problem(Finding& finding, Problem problem);

// Counts of the programs and policies that the user named.
struct Originals {
  std::uint64_t count = 0;
  std::uint64_t unsupported = 0;
  std::uint64_t undecided = 0;
};

// Returns "CMD had not answered trial 7 after 3.2 s", for a request that was abandoned at the end
// of the hunt.
std::string unanswered(const HuntReport& report, std::uint64_t trial, const HuntSubject& subject,
                       double seconds);

// Sets the report's verdict and its reason.
void conclude(HuntReport& report, const HuntOptions& options, const Originals& originals);

}  // namespace secequiv::hunt
