// Owns the loop that fuzzes an optimizer or a compiler of filters: it sends programs, assesses
// every answer, and decides which requests are repeated and when findings are reduced. It must not
// know how a finding is reduced (reduce.h) or an answer assessed (assess.h).
#pragma once

#include <functional>
#include <set>

#include "fuzz/hunt/assess.h"
#include "fuzz/hunt/program_source.h"

namespace secequiv::hunt {

// What is under test: exactly one of `optimizer` and `compiler` is set.
struct Target {
  std::string name;
  Optimizer* optimizer = nullptr;
  Compiler* compiler = nullptr;
};

struct HuntOptions {
  std::uint64_t seed = 1;
  double seconds = 60;           // no trial starts after this time
  std::uint64_t trials = ~0ull;  // limit; programs that the user named are always tried
  // For each generated program; programs that the user named get derived inputs.
  std::size_t inputs = 24;
  std::size_t reductions = 24;  // findings reduced for each kind; others are counted
  double reduce_seconds = 10;   // limit for each reduction
  double request_seconds = 10;  // the adapter's time limit, for reducing hangs
  bool repeat = true;           // send some requests twice
  bool scaling = true;          // measure how time grows (optimizers only)
  bool stop_at_first = false;   // end at the first failure
  // An undecided program is no pass; programs that the user named always need a proof.
  bool require_proof = false;
  AssessOptions assess;
  std::set<FindingKind> allowed;  // kinds that are only noted
  std::function<bool()> stop;     // called every few requests; true ends the hunt
  std::function<void(const HuntReport&, Finding&)> found;  // called for each new finding
  std::string replay_options;                       // for replay commands, like " --form ddd"
  std::function<void(const HuntReport&)> progress;  // called regularly
};

// Runs the hunt. Errors: the prover's kInternal; kAdapter if the command cannot run.
Result<HuntReport> hunt(const Target& target, ProgramSource& source, const HuntOptions& options);

// Requests the answer of the target's optimizer or compiler.
Answer<Program> ask(const Target& target, const HuntSubject& subject);

// Counts of the programs and policies that the user named.
struct Originals {
  std::uint64_t count = 0;
  std::uint64_t unsupported = 0;
  std::uint64_t undecided = 0;
};

// Sets the report's verdict and its reason.
void conclude(HuntReport& report, const HuntOptions& options, const Originals& originals);

}  // namespace secequiv::hunt
