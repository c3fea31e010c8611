// Owns the choice of the engine that answers a question: when derived inputs and other engines run
// after the diagrams, which engines run side by side, and the rule that answers must not contradict
// each other. It must not know how engines work.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/dd/engine.h"
#include "verify/smt/foreign.h"

namespace secequiv {

struct Engine {
  enum Kind : std::uint8_t {
    kZ3,
    kDd,       // decision diagrams, then the SAT engine and Z3 (see decide.cc)
    kBoth,     // decision diagrams and Z3; contradicting verdicts are an error
    kSat,      // the SAT engine; diagrams decide edges
    kForeign,  // the only element of `solvers`; diagrams decide edges
    kAll,      // every engine and all of `solvers` side by side; the first verdict counts
  };
  Kind kind = kDd;
  std::vector<smt::ForeignSolver> solvers = {};

  Engine(Kind which) : kind(which) {}  // NOLINT(google-explicit-constructor)
  bool operator==(Kind which) const { return kind == which; }
};

struct Budget {
  double timeout_seconds = 60;    // time limit of the solvers
  std::size_t solver_mib = 4096;  // memory limit of each solver
  dd::Limits diagrams = {};
  double spent_seconds = 0;  // part of timeout_seconds that was spent before this question

  // Returns the budget that remains after this many seconds. Messages still name the whole limit.
  [[nodiscard]] Budget after(double seconds) const;
};

// Returns limits for diagrams that use up to `mib` MiB of memory, if no solver runs after them.
dd::Limits limits_alone(std::size_t mib);

// Returns limits within a user's time and memory that leave time for the solver.
Budget budget_for(double seconds, std::size_t mib);

// Returns limits for work that only improves a known difference: it takes milliseconds.
dd::Limits limits_to_improve(const dd::Limits& limits);

// Returns the answer of two engines that must agree. If only one of them decides, the verdict is
// kUnknown, except that a difference needs no confirmation, because it is replayed. Errors:
// kInternal if the answers contradict each other.
Result<Proof> agreed(Proof diagrams, Result<Proof> solver);

// Answers the question without running inputs, for callers that ran them already. The proof's
// `engine` names the engine that decided. Precondition: the kernel accepts all programs, except
// that they may be too long. Errors: kUsage if no input meets the assumption; kInternal if a
// witness does not replay or if answers contradict each other.
Result<Proof> ask_engine(const Question& question, const Engine& engine, const Budget& budget);

// Answers the question as ask_engine() does, but runs derived inputs before any solver, and counts
// the time of everything that ran. If an input shows a difference, the verdict is kDifferent even
// if the engine gives up. The engine then has only little time to find the smallest witness.
Result<Proof> decide(const Question& question, const Engine& engine, const Budget& budget);

}  // namespace secequiv
