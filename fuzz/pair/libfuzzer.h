// Owns the functions that libFuzzer calls for a pair of programs (the custom mutator and
// cross-over), and the counters that it treats as coverage. They use one session for the whole
// process, because libFuzzer's callbacks have no argument for it. fuzz_pair and the command line
// link this file. It must not know where the programs come from.
#pragma once

#include "fuzz/pair/session.h"

namespace secequiv::pair {

// The session must outlive all fuzzing. Before this call, libFuzzer's callbacks do nothing.
void set_session(const PairSession& session);

// Runs one input of libFuzzer and marks its coverage in libFuzzer's counters. Edges explains `seen`
// and `first_only`. Precondition: set_session() was called.
PairOutcome run_session(std::span<const std::uint8_t> bytes, std::span<std::uint8_t> seen,
                        bool first_only);

}  // namespace secequiv::pair
