// What proof engines answer. Owns the result types, so that reports and callers need no engine
// (verify/) to read them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/question.h"
#include "harness/compare/verdict.h"

namespace secequiv {

// Answer to a Question.
struct Proof {
  // kEquivalent; kPass: different, but what was asked (to refine) holds; kDifferent; kUnknown.
  Verdict verdict = Verdict::kUnknown;
  std::string engine;                  // "dd", "z3", "dd and z3"
  std::optional<Relation> relation;    // of `after` to `before`; nothing if it was not decided
  std::optional<Witness> witness;      // of kDifferent; replayed
  std::vector<std::uint32_t> symbols;  // of kDifferent: values of the question's, for the witness
  // The symbols have in turn the smallest values, and for these the witness has the fewest non-zero
  // words, then the smallest values.
  bool minimal = false;
  std::string detail;  // of kUnknown: what ran out
  double encode_seconds = 0;
  double solve_seconds = 0;
};

// Answer to "can this obligation be met by any input?".
struct Feasibility {
  enum class Answer : std::uint8_t { kFeasible, kInfeasible, kUnknown };
  Obligation obligation;
  Answer answer = Answer::kUnknown;
  std::optional<SeccompData> witness;  // of kFeasible; replayed: running it meets the obligation
  std::string detail;                  // of kUnknown
};

}  // namespace secequiv
