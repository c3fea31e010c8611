// The Z3 engine: equivalence of two programs and feasibility of edges, each with a time limit and
// each witness replayed. Owns the queries. It must not know policies nor how results are shown.
// Z3's own types stay in the .cc file.
#pragma once

#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv::smt {

// Preconditions: check() accepts all programs (the length rule aside). `timeout_seconds` bounds the
// whole call. If it runs out before a verdict, the answer is kUnknown; if it runs out while the
// witness is minimized, the smallest witness found so far is returned. Errors: kUsage if no input
// meets the assumption; kInternal if a model of Z3 does not replay (a bug in this tool or in Z3; it
// is never reported as a difference).
Result<Proof> prove(const Question& question, double timeout_seconds,
                    std::size_t memory_mib = 4096);
inline Result<Proof> prove(const Pair& pair, double timeout_seconds) {
  return prove(Question(pair), timeout_seconds);
}

// The question as SMT-LIB 2 text for other solvers; satisfiable means that the answer is no.
std::string smt2(const Question& question);

// Feasibility of one program's obligations. One encoding serves all queries.
class FeasibilityOracle {
 public:
  // Precondition: check() accepts `program` (the length rule aside).
  explicit FeasibilityOracle(const Program& program);
  ~FeasibilityOracle();
  FeasibilityOracle(const FeasibilityOracle&) = delete;
  FeasibilityOracle& operator=(const FeasibilityOracle&) = delete;

  // kUnknown after `timeout_seconds`. Errors: kInternal if a model does not replay.
  Result<Feasibility> query(const Obligation& obligation, double timeout_seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace secequiv::smt
