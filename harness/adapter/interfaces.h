// Other people's code under test: optimizers, compilers and evaluators of filters, whatever they
// are written in. Owns the three interfaces and what can become of one request. It must not know
// how a request travels (command, served command, plugin) nor what a good answer is (verify/).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv {

// What became of one request. All but the first two are findings about the adapter.
enum class Outcome : std::uint8_t {
  kAnswered,
  kUnsupported,  // it says that it cannot express what is asked; nothing is wrong
  kRefused,      // it says that the request is wrong, which it is not
  kCannotRun,    // the shell found no such command or may not run it (exit status 126 or 127)
  kCrashed,      // a signal, a panic, another non-zero exit, or it could not be started
  kHung,         // the time limit ran out
  kExhausted,    // the memory or output limit ran out
  kGarbage,      // it ended well but what it said is no answer: nonsense, a truncated frame
};
// "answered", "unsupported", "refused", "cannot run", "crashed", "hung", "exhausted", "garbage".
std::string_view outcome_name(Outcome outcome);

template <class T>
struct Answer {
  Outcome outcome = Outcome::kAnswered;
  T value = {};        // of kAnswered
  std::string detail;  // otherwise: a sentence; for crashes with the last lines of standard error
  double seconds = 0;  // from request to answer

  [[nodiscard]] bool ok() const { return outcome == Outcome::kAnswered; }
};

class Confinement;

struct AdapterLimits {
  double seconds = 10;                                  // for one request
  std::size_t memory_bytes = std::size_t{4} << 30;      // of data (RLIMIT_DATA); 0: no limit
  std::size_t output_bytes = std::size_t{16} << 20;     // of one answer
  std::shared_ptr<const Confinement> confinement = {};  // none: as free as this process
};

// What a program was after one pass of an optimizer. (`Stage` is a layout's.)
struct OptimizerStage {
  std::string pass;  // its name, as the optimizer calls it
  Program program;

  friend bool operator==(const OptimizerStage&, const OptimizerStage&) = default;
};

// Program in, program out. The answer's program is any sequence of instructions that was well
// formed on the way; whether the kernel accepts it is the caller's question.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  virtual Answer<Program> optimize(ProgramView program) = 0;
  // Answers in the order of the programs. An implementation may have several requests under way.
  virtual std::vector<Answer<Program>> optimize_all(std::span<const Program> programs);
  // The program after each pass that changed it, in order; the last is what optimize() answers.
  // kUnsupported, as here, of one that cannot tell.
  virtual Answer<std::vector<OptimizerStage>> stages(ProgramView program);
};

// Policy in (the text of our JSON format), program out.
class Compiler {
 public:
  Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  virtual ~Compiler() = default;

  virtual Answer<Program> compile(std::string_view policy) = 0;
};

// An interpreter under test: what it says a program returns on each input, as many values as
// inputs.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  virtual ~Evaluator() = default;

  virtual Answer<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                                      std::span<const InputWords> inputs) = 0;
};

}  // namespace secequiv
