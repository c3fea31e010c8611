// Derives inputs: system calls worth running, from a policy's rules or from a program's constants.
// Owns the choice of values. The derivation is deterministic (equal arguments give equal inputs in
// the same order) and bounded, and it counts what it leaves out. It must not know an optimizer: it
// runs only the program from which it derives inputs.
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
  // Instructions run to search a program's paths. A filter of a few hundred instructions needs
  // less. Inputs not found by then do not count as dropped, because they may not exist.
  std::size_t steps = std::size_t{1} << 26;
};

struct Cases {
  std::vector<SeccompData> inputs;  // distinct, in order of derivation
  std::uint64_t dropped = 0;        // combinations left out because of CaseLimits or an interrupt
};

// Derives inputs from a policy:
//   - for each system call, the cross product over its fields of 0 and the values in its matchers.
//     A test for equality with k contributes k and k+1 in each half; an order comparison
//     contributes k-1, k, k+1 and, for the high half of k and both neighbours of this half, the
//     smallest value with that high half. These include all inputs that gVisor's secfuzz derives;
//   - for each conjunction of matchers, a call that satisfies it; then this call with one field at
//     a time at its boundaries: k-1, k, k+1, both halves, each bit of k flipped, each bit
//     alone, the mask without each of its bits, sign bits, all ones;
//   - the same satisfying calls with neighbouring numbers, other architectures and the x32 bit;
//   - for every number in the tables, all words 0, all ones, and one word at a time all ones;
//   - numbers just outside the tables, and unknown architectures.
Cases derive_cases(const Policy& policy, const CaseLimits& limits = {});

// Derives inputs from a program alone: each tested architecture with each tested number, and the
// constants (k-1, k, k+1, masks) with which words are compared, together with the architecture and
// number that earlier tests require. Then a search adds inputs that show the effect of each test,
// jump and load (cases_path.h). The search also starts from `known`, inputs that will be run anyway
// (such as those derived from a policy), and adds no input for an effect that these already show.
Cases derive_cases(ProgramView program, const CaseLimits& limits = {},
                   std::span<const SeccompData> known = {});

}  // namespace secequiv
