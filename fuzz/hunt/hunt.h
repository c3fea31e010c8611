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
  std::uint64_t trials = ~0ull;  // at most; what a user gave is tried in any case
  std::size_t inputs = 24;       // run for each generated program; given ones get derived inputs
  std::size_t reductions = 24;   // findings of a kind that are reduced; further ones are counted
  double reduce_seconds = 10;    // for each
  double request_seconds = 10;   // the adapter's own limit, for the reduction of hangs
  bool repeat = true;            // ask some things twice
  bool scaling = true;           // measure how time grows (optimizers only)
  bool stop_at_first = false;    // failure
  bool require_proof = false;    // an undecided program is no pass; given ones always need proof
  AssessOptions assess;
  std::set<FindingKind> allowed;                           // failures that are only reported
  std::function<bool()> stop;                              // asked every few requests
  std::function<void(const HuntReport&, Finding&)> found;  // called for each one that is new
  std::string replay_options;  // what a replaying command needs, too: " --form ddd"
  std::function<void(const HuntReport&)> progress;  // called now and then
};

// Errors: kInternal of the prover.
Result<HuntReport> hunt(const Target& target, ProgramSource& source, const HuntOptions& options);

// The answer of whichever it is.
Answer<Program> ask(const Target& target, const HuntSubject& subject);

// What a user gave, and what stayed open about it.
struct Originals {
  std::uint64_t count = 0;
  std::uint64_t unsupported = 0;
  std::uint64_t undecided = 0;
};

// Verdict and reason from what was found.
void conclude(HuntReport& report, const HuntOptions& options, const Originals& originals);

}  // namespace secequiv::hunt
