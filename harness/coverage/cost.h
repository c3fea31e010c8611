// What a filter costs: how many instructions it executes, which is the same on every machine. Owns
// the costs of single calls and of a profile for given inputs (for all inputs: verify/dd/cost.h).
// It must not know where inputs come from or how long an instruction takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

// How many instructions `program` executes on `data`, the last RET included. Precondition: as for
// run_observed.
std::size_t executed(ProgramView program, const SeccompData& data);

// The worst case: the first input for which `program` executes most. `inputs` is not empty.
struct WorstInput {
  SeccompData data;
  std::size_t instructions;
};
WorstInput worst(ProgramView program, std::span<const SeccompData> inputs);

// A number that need not be whole.
struct Ratio {
  double value = 0;   // the nearest double towards 0
  std::string exact;  // in lowest terms: "17/2", "4"
};

// The cost of one system call over all 2^448 inputs with its arch and nr.
struct ExactCost {
  WorstInput least;  // the smallest input (smallest.h) that executes fewest, and how many
  WorstInput most;
  // Over the inputs that the program allows, whatever the data bits of its ALLOW, each equally
  // likely; over all inputs if it allows none.
  Ratio mean;
  Ratio jumps;  // taken, as in CallCost
  bool allowed = false;
  std::string inputs;  // that mean and jumps are over, decimal
};

struct CallCost {
  std::string name;
  std::uint64_t calls;
  bool cached;  // the kernel answers without running the filter (seccomp/cache.h)
  // Instructions executed, as if nothing were cached.
  double mean;
  std::size_t least;
  std::size_t most;
  std::size_t inputs;  // that the numbers above are over
  double jumps;  // mean number of jumps taken: JA, and conditional ones that do not fall through
};

// The cost of each system call of `profile` on `arch`, in the profile's order. Names that `arch`
// does not have are left out (unknown_calls lists them). The cost is over these inputs:
//   - those with this arch and number that the program allows, whatever the data bits of its ALLOW,
//     because a running program makes these calls;
//   - if it allows none of them, all with this number;
//   - if there are none, the one whose other words are 0; `inputs` is then 0.
std::vector<CallCost> profile_cost(ProgramView program, Arch arch,
                                   std::span<const SyscallCount> profile,
                                   std::span<const SeccompData> inputs);

// Mean number of instructions for a call of the profile; 0 if it has no calls. A cached call costs
// nothing.
double weighted_mean(std::span<const CallCost> costs);

// The same without the kernel's cache.
double weighted_mean_uncached(std::span<const CallCost> costs);

}  // namespace secequiv
