// Fuzzes an optimizer or a compiler of filters: feeds it programs without end and assesses every
// answer. Owns the loop, which requests are repeated, and when findings are reduced. It must not
// know how a finding is reduced (reduce.h) or an answer assessed (assess.h).
#pragma once

#include <functional>
#include <set>

#include "fuzz/hunt/assess.h"
#include "fuzz/hunt/program_source.h"

namespace secequiv::hunt {

// Exactly one of the two.
struct Target {
  std::string name;
  Optimizer* optimizer = nullptr;
  Compiler* compiler = nullptr;
};

struct HuntOptions {
  std::uint64_t seed = 1;
  double seconds = 60;           // after which no new trial starts
  std::uint64_t trials = ~0ull;  // at most; the user's own are tried in any case
  std::size_t inputs = 24;       // for each generated program; given ones get derived inputs
  std::size_t reductions = 24;   // findings reduced per kind; further ones are counted
  double reduce_seconds = 10;    // for each
  double request_seconds = 10;   // the adapter's limit, for the reduction of hangs
  bool repeat = true;            // repeat some requests
  bool scaling = true;           // measure how time grows (optimizers only)
  bool stop_at_first = false;    // end at the first failure
  bool require_proof = false;    // undecided is not a pass; given ones always need proof
  AssessOptions assess;
  std::set<FindingKind> allowed;                           // kinds that are noted only
  std::function<bool()> stop;                              // checked every few requests
  std::function<void(const HuntReport&, Finding&)> found;  // called for each one that is new
  std::string replay_options;                       // further options for a replay: " --form ddd"
  std::function<void(const HuntReport&)> progress;  // called regularly
};

// Errors: the prover's kInternal; kAdapter if the command cannot run.
Result<HuntReport> hunt(const Target& target, ProgramSource& source, const HuntOptions& options);

// The answer of the target's optimizer or compiler.
Answer<Program> ask(const Target& target, const HuntSubject& subject);

// Counts of the user's own programs and policies.
struct Originals {
  std::uint64_t count = 0;
  std::uint64_t unsupported = 0;
  std::uint64_t undecided = 0;
};

// Sets the verdict and its reason.
void conclude(HuntReport& report, const HuntOptions& options, const Originals& originals);

}  // namespace secequiv::hunt
