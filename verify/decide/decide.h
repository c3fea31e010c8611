// Which engine answers a question. Owns handing over from one engine to the other, and the
// requirement that both agree when both run.
#pragma once

#include <cstdint>

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "verify/dd/engine.h"

namespace secequiv {

enum class Engine : std::uint8_t {
  kZ3,    // the solver
  kDd,    // decision diagrams, and the solver when their limits are reached
  kBoth,  // both; two verdicts that contradict each other are an error
};

struct Budget {
  double timeout_seconds = 60;    // of the solver
  std::size_t solver_mib = 4096;  // of memory, for the solver
  dd::Limits diagrams = {};
};

// The diagrams' limits where no solver takes over, within `mib` of memory.
dd::Limits limits_alone(std::size_t mib);

// The diagrams' limits within a user's time and memory; they leave time for the solver.
Budget budget_for(double seconds, std::size_t mib);

// Preconditions: check() accepts all programs (the length rule aside). The proof's `engine` names
// who decided. Errors:
// kUsage if no input meets the assumption; kInternal if a witness does not replay or the engines
// contradict each other.
Result<Proof> decide(const Question& question, Engine engine, const Budget& budget);

}  // namespace secequiv
