// Owns the queries of the Z3 engine: equivalence of two programs and feasibility of edges. Each has
// a time limit, and each witness is replayed. It must not know policies or how results are shown.
// Z3's types stay in the .cc file.
#pragma once

#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv::smt {

// Answers the question. `timeout_seconds` limits the whole call; `spent_seconds` of it have already
// passed. If the time ends before a verdict, the answer is kUnknown. If it ends during
// minimization, the proof contains the smallest witness found so far. Precondition: the kernel
// accepts all programs, except that they may be too long. Errors: kUsage if no input meets the
// assumption; kInternal if a model of Z3 does not replay. That is a bug in this tool or in Z3, and
// is never reported as a difference.
Result<Proof> prove(const Question& question, double timeout_seconds, std::size_t memory_mib = 4096,
                    double spent_seconds = 0);
inline Result<Proof> prove(const Pair& pair, double timeout_seconds) {
  return prove(Question(pair), timeout_seconds);
}

// Returns the question as SMT-LIB 2 text for other solvers. If the text is satisfiable, the answer
// to the question is no. Returns an empty text if this work should stop (harness/base/interrupt.h).
std::string smt2(const Question& question);

// Decides the feasibility of one program's obligations. One encoding serves all queries.
class FeasibilityDecider {
 public:
  // Precondition: the kernel accepts `program`, except that it may be too long.
  explicit FeasibilityDecider(const Program& program);
  ~FeasibilityDecider();
  FeasibilityDecider(const FeasibilityDecider&) = delete;
  FeasibilityDecider& operator=(const FeasibilityDecider&) = delete;

  // Returns kUnknown after `timeout_seconds`. Errors: kInternal if a model does not replay.
  Result<Feasibility> query(const Obligation& obligation, double timeout_seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace secequiv::smt
