// The results of proof engines. Owns these types, so that reports and callers need no engine
// (verify/) to read them. It must not know how engines work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/question.h"
#include "harness/compare/verdict.h"

namespace secequiv {

// The result for a Question.
struct Proof {
  // kEquivalent, kDifferent or kUnknown; kPass if the filters differ, but `after` refines `before`
  // as required.
  Verdict verdict = Verdict::kUnknown;
  std::string engine;                  // "dd", "walk", "identical", "sat", ...
  std::optional<Relation> relation;    // how `after` compares with `before`; absent if undecided
  std::optional<Witness> witness;      // for kDifferent; replayed
  std::vector<std::uint32_t> symbols;  // for kDifferent: the symbols' values for the witness
  // Whether the witness is minimal: each symbol, in order, has its smallest possible value. For
  // these values, the input has the fewest non-zero words, and among such inputs the smallest
  // values.
  bool minimal = false;
  std::string detail;  // for kUnknown: the limit that ran out
  double encode_seconds = 0;
  double solve_seconds = 0;
};

// Returns the answer of an engine that does not decide, with the reason.
Proof no_verdict(std::string engine, std::string detail);

// The result for "can any input meet this obligation?".
struct Feasibility {
  enum class Answer : std::uint8_t { kFeasible, kInfeasible, kUnknown };
  Obligation obligation;
  Answer answer = Answer::kUnknown;
  std::optional<SeccompData> witness;  // for kFeasible; replayed: it meets the obligation
  std::string detail;                  // for kUnknown
};

}  // namespace secequiv
