// Owns the SAT engine: both filters as one graph of bits, in normal forms, swept by a SAT solver.
// It must not know decision diagrams or Z3.
#pragma once

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv::sat {

// Answers the question. `timeout_seconds` limits the whole call; `spent_seconds` of it have already
// passed. `memory_mib` limits the graph; the solver needs about as much again. The answer is
// kUnknown, with the limit in `detail`, if a limit is reached. Precondition: the kernel accepts all
// programs, except that they may be too long. Errors: kUsage if no input meets the assumption;
// kInternal if a witness does not replay.
Result<Proof> prove(const Question& question, double timeout_seconds, std::size_t memory_mib = 4096,
                    double spent_seconds = 0);
// As prove(), with a small effort: a graph of at most 16 MiB, few conflicts, and a tenth of the
// remaining time. The answer is kUnknown unless it includes the relation.
Result<Proof> prove_quickly(const Question& question, double timeout_seconds,
                            std::size_t memory_mib, double spent_seconds);
inline Result<Proof> prove(const Pair& pair, double timeout_seconds) {
  return prove(Question(pair), timeout_seconds);
}

// Returns the proof for a known witness, made as small as a bounded effort permits. Precondition:
// the question has no symbols. Errors: those of prove().
Result<Proof> minimized(const Question& question, const Witness& witness, double timeout_seconds,
                        std::size_t memory_mib, double spent_seconds);

}  // namespace secequiv::sat
