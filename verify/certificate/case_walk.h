// A product walk by cases that is written down as a certificate: where the fast walk joins paths
// and forgets, this one keeps exactly what each case relies on. Owns the cases, the lemmas and
// their text (FORMAT.md). It must not know engines or solvers.
#pragma once

#include <cstdint>
#include <string>

#include "harness/base/result.h"
#include "harness/bpf/insn.h"
#include "harness/seccomp/action.h"

namespace secequiv::certificate {

struct WalkLimits {
  std::size_t nodes = std::size_t{1} << 20;
  std::size_t work = std::size_t{1} << 28;   // instructions executed and literals examined
  std::size_t bytes = std::size_t{1} << 29;  // of stored literals
  double seconds = 1e6;
};

struct Walk {
  std::string text;
  std::size_t cases = 0;   // nodes: tests with two outcomes, and returns
  std::size_t lemmas = 0;  // nodes that are used more than once
};

// A certificate that both return the same for every input. Errors: kBudget if the limits are
// reached or if the walk cannot show that two returns are the same (its rules are weaker than the
// engines). Precondition: check() accepts both (the length rule aside).
Result<Walk> walk_certificate(ProgramView before, ProgramView after, Sameness sameness,
                              const WalkLimits& limits = {});

}  // namespace secequiv::certificate
