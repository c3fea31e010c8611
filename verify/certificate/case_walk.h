// Owns the product walk that certificates record: its cases, its lemmas and their text (FORMAT.md).
// Unlike ProductWalk, which joins paths and forgets facts, this walk keeps exactly the literals on
// which each case relies. It must not know engines or solvers.
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
  std::size_t bytes = std::size_t{1} << 29;  // size of the stored literals
  double seconds = 1e6;
};

struct Walk {
  std::string text;
  std::size_t cases = 0;   // nodes: tests with two outcomes, and returns
  std::size_t lemmas = 0;  // nodes that are used more than once
};

// Returns a certificate that both programs return the same for every input. Errors: kBudget if a
// limit is reached or the walk cannot show that two returns are equal (its rules are weaker than
// the engines). Precondition: the kernel accepts both programs, except that they may be too long.
Result<Walk> walk_certificate(ProgramView before, ProgramView after, Sameness sameness,
                              const WalkLimits& limits = {});

}  // namespace secequiv::certificate
