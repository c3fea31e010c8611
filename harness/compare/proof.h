// What proof engines answer. Owns the result types, so that reports and callers need no engine
// (verify/) to read them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/compare/pair.h"
#include "harness/compare/verdict.h"

namespace secequiv {

// Answer to "do these two programs decide the same on all 2^512 inputs?".
struct Proof {
  Verdict verdict = Verdict::kUnknown;  // kEquivalent, kDifferent or kUnknown
  std::string engine;                   // "z3"
  std::optional<Witness> witness;       // of kDifferent; replayed
  bool minimal = false;  // the witness has the fewest non-zero words, then the smallest values
  std::string detail;    // of kUnknown: what ran out
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
