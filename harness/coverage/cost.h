// What a filter costs: instructions executed, a number that no machine and no noise changes. Owns
// the costs of single calls and of a profile, over given inputs (over all: verify/dd/cost.h). It
// must not know where inputs come from or what an instruction takes in time.
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

// The input on which `program` executes most, the first of several. `inputs` not empty.
struct WorstInput {
  SeccompData data;
  std::size_t instructions;
};
WorstInput worst(ProgramView program, std::span<const SeccompData> inputs);

struct CallCost {
  std::string name;
  std::uint64_t calls;
  bool cached;  // the kernel answers without running the filter (seccomp/cache.h)
  // Instructions executed, as if nothing were cached.
  double mean;
  std::size_t least;
  std::size_t most;
  std::size_t inputs;  // how many inputs that is over
  double jumps;  // mean number of jumps taken: JA, and conditional ones that do not fall through
};

// The cost of each system call of `profile` on `arch`, in the profile's order. It is that of the
// inputs with this arch and number that the program allows, whatever the data bits of its ALLOW:
// those are the calls that a running program makes. If it allows none of them, of all with this
// number; if there are none, of the one whose other words are 0, and `inputs` is 0. Names that
// `arch` does not have are left out (unknown_calls lists them).
std::vector<CallCost> profile_cost(ProgramView program, Arch arch,
                                   std::span<const SyscallCount> profile,
                                   std::span<const SeccompData> inputs);

// Mean number of instructions of a call of the profile; 0 if it has no calls. Calls that are cached
// cost nothing.
double weighted_mean(std::span<const CallCost> costs);

// The same without the kernel's cache.
double weighted_mean_uncached(std::span<const CallCost> costs);

}  // namespace secequiv
