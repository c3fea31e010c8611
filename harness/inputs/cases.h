// Test-case derivation: system calls worth running, from a policy's rules or from a program's
// constants. Owns the choice of values. The derivation is deterministic (same input, same cases,
// same order) and bounded, and it counts what it leaves out. It runs only the program from which it
// derives inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

struct CaseLimits {
  std::size_t per_syscall = 20000;  // combinations of argument values for one system call
  std::size_t total = 4000000;
  // Instructions run to search a program's paths. A filter of some hundred instructions needs less.
  // Inputs not found by then do not count as dropped, because they may not exist.
  std::size_t steps = std::size_t{1} << 26;
};

struct Cases {
  std::vector<SeccompData> inputs;  // distinct, in order of derivation
  std::uint64_t dropped = 0;        // combinations left out because of CaseLimits
};

// From a policy:
//  - per system call, the cross product over its fields of {0} and of each matcher's own values (k,
//  k+1 per half; for
//    orders k-1, k, k+1 and the halves' neighbours): at least what gVisor's secfuzz derives;
//  - per conjunction of matchers, a satisfying call, then each field in turn at its boundaries:
//  k-1, k, k+1, both halves,
//    each single bit of k flipped, each mask bit alone and missing, sign bits, all ones;
//  - the same satisfying calls under the neighbouring numbers, other architectures and the x32 bit;
//  - for every number of the tables, each half of each field all ones, everything zero and
//  everything ones; numbers just
//    outside the tables; unknown architectures.
Cases derive_cases(const Policy& policy, const CaseLimits& limits = {});

// From a program alone: every constant that it compares with nr, combined with the constants (k-1,
// k, k+1, masks) that it compares with each argument word. Then a search adds inputs that show the
// effect of each test, jump and load (cases_path.h). `known` are inputs that will be run anyway,
// such as those of a policy: the search also starts from them, and does not repeat what they show.
Cases derive_cases(ProgramView program, const CaseLimits& limits = {},
                   std::span<const SeccompData> known = {});

}  // namespace secequiv
