// The decision-diagram engine: equivalence of two programs by comparing the roots of their
// diagrams. Owns the backward pass from a program to its diagram. It must not know Z3 (verify/smt):
// what it cannot decide it says.
//
// Handled today: programs whose every reachable comparison is of one input word, possibly masked,
// with a constant, and whose returns are constants. That is all of gVisor's, libseccomp's and our
// own compiled filters.
#pragma once

#include "harness/base/result.h"
#include "harness/compare/proof.h"

namespace secequiv::dd {

struct Limits {
  std::size_t nodes = std::size_t{1} << 22;  // 16 bytes each, and as much again for the table
};

// kEquivalent, kDifferent with the smallest witness (fewest non-zero words, then the smallest
// values from nr on; replayed), or kUnknown with `detail` saying which instruction is outside, or
// that the nodes ran out. Preconditions: check() accepts both programs (the length rule aside).
// Errors: kInternal if a witness does not replay.
Result<Proof> prove(const Pair& pair, const Limits& limits = {});

}  // namespace secequiv::dd
