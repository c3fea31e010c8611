// What libFuzzer calls for a pair of programs: the custom mutator and cross-over, and the counters
// that it takes for coverage. Owns the one session of a process that fuzzes a pair; libFuzzer's
// callbacks have no argument for it. Linked into fuzz_pair and into the command line.
#pragma once

#include "fuzz/pair/session.h"

namespace secequiv::pair {

// The session outlives all fuzzing. libFuzzer's callbacks do nothing before this.
void set_session(const PairSession& session);

// Runs one input of libFuzzer's and marks what it covers where libFuzzer looks. `seen` and
// `first_only` as in Edges. Precondition: set_session().
PairOutcome run_session(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> seen,
                        bool first_only);

}  // namespace secequiv::pair
