// Code under test: optimizers, compilers and evaluators of filters, in any language. Owns the three
// interfaces and the outcomes of a request. It must not know how a request travels (command, served
// command, plugin) nor which answer is right (fuzz/hunt).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/interpreter.h"
#include "harness/policy/policy.h"

namespace secequiv {

// The outcome of one request. All outcomes except the first two are findings about the adapter,
// with one exception: kCannotRun for the first request means that the user named a wrong command.
enum class Outcome : std::uint8_t {
  kAnswered,
  kUnsupported,  // the adapter reports that it cannot express the request; not a failure
  kRefused,      // the adapter wrongly reports that the request is invalid
  kCannotRun,    // the shell found no such command or may not run it (exit status 126 or 127)
  kCrashed,      // a signal, a panic, another non-zero exit, or it could not be started
  kHung,         // the time limit ran out
  kExhausted,    // the memory or output limit ran out
  kGarbage,      // it ended cleanly but gave an invalid or truncated answer
};
// Returns "answered", "unsupported", "refused", "cannot run", "crashed", "hung", "exhausted" or
// "garbage".
std::string_view outcome_name(Outcome outcome);

template <class T>
struct Answer {
  Outcome outcome = Outcome::kAnswered;
  T value = {};        // if kAnswered
  std::string detail;  // otherwise: a sentence; for crashes it includes the end of standard error
  double seconds = 0;  // from request to answer
  // What distinguishes this failure from others: how it ended, and one line of standard error.
  // Empty if nothing was written there.
  std::string cause = {};

  [[nodiscard]] bool ok() const { return outcome == Outcome::kAnswered; }
};

class Confinement;

struct AdapterLimits {
  double seconds = 10;                                  // for one request
  std::size_t memory_bytes = std::size_t{4} << 30;      // as in Start (process.h)
  std::size_t output_bytes = std::size_t{16} << 20;     // for one answer
  std::shared_ptr<const Confinement> confinement = {};  // empty: not confined
  // If this points to a number above 0, the number replaces `seconds` for the requests that follow.
  // The owner may change the number between requests.
  std::shared_ptr<const double> shorter = {};

  [[nodiscard]] double seconds_now() const { return shorter && *shorter > 0 ? *shorter : seconds; }
};

// A program after one pass of an optimizer. (`Stage` is another type, for layouts.)
struct OptimizerStage {
  std::string pass;  // the optimizer's name for the pass
  Program program;

  friend bool operator==(const OptimizerStage&, const OptimizerStage&) = default;
};

// Program in, program out. The answer is any sequence of well-formed instructions; the caller
// decides whether the kernel accepts it.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  virtual Answer<Program> optimize(ProgramView program) = 0;
  // Returns one answer for each program, in the same order. An implementation may send several
  // requests at once.
  virtual std::vector<Answer<Program>> optimize_all(std::span<const Program> programs);
  // From now on, optimize_all() also asks which edges of its own code the optimizer reaches.
  // Returns false, the default, if the optimizer cannot report its edges. Edges that it reached
  // earlier do not count.
  virtual bool report_edges() { return false; }
  // Returns, for each program of the last optimize_all(), how many edges it reached that no earlier
  // program had reached.
  [[nodiscard]] virtual std::vector<std::size_t> new_edges() const { return {}; }
  // Returns the program after each pass that changed it, in order. The last program equals
  // optimize()'s answer. The outcome is kUnsupported, the default, if the optimizer does not report
  // its passes.
  virtual Answer<std::vector<OptimizerStage>> stages(ProgramView program);
  // Returns how many threads may call optimize() at the same time.
  [[nodiscard]] virtual unsigned at_once() const { return 1; }
};

// Policy in, program out. Code under test gets the policy in its normal form (PROTOCOL.md).
class Compiler {
 public:
  Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  virtual ~Compiler() = default;

  virtual Answer<Program> compile(const Policy& policy) = 0;
  // Returns how many threads may call compile() at the same time.
  [[nodiscard]] virtual unsigned at_once() const { return 1; }
};

// An interpreter under test. It returns the program's return value for each input.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

  virtual Answer<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                                      std::span<const SeccompData> inputs) = 0;
  // Returns how many threads may call evaluate() at the same time.
  [[nodiscard]] virtual unsigned at_once() const { return 1; }
};

}  // namespace secequiv
