// Measures the cost of a filter or a stack of filters: the number of executed instructions, which
// is the same on every machine. Owns the costs of single calls and of a profile for given inputs
// (verify/dd/cost.h computes them for all inputs). It must not know where inputs come from or how
// long an instruction takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/bpf/insn.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/profile.h"

namespace secequiv {

// The kernel runs every filter of a stack for each call, even if another filter already denies it.
using FilterStack = std::span<const ProgramView>;

// Returns the number of instructions that the filters execute on `data`, including the final RET of
// each. Precondition: the kernel accepts every filter, except for its length.
std::size_t executed(FilterStack stack, const SeccompData& data);
inline std::size_t executed(ProgramView program, const SeccompData& data) {
  return executed(FilterStack(&program, 1), data);
}

// The worst case: the first input on which the filters execute the most instructions. Precondition:
// `inputs` is not empty.
struct WorstInput {
  SeccompData data;
  std::size_t instructions;
};
WorstInput worst(FilterStack stack, std::span<const SeccompData> inputs);

// A rational number.
struct Ratio {
  double value = 0;   // rounded toward 0
  std::string exact;  // in lowest terms: "17/2", "4"
};

// The cost of one system call over all 2^448 inputs with its arch and nr.
struct ExactCost {
  WorstInput least;  // the smallest input (verify/dd/smallest.h) with the fewest instructions
  WorstInput most;
  // The mean over the inputs that all filters allow (ALLOW with any data bits). If the filters
  // allow no input, this is the mean over all inputs. Each input has the same weight.
  Ratio mean;
  Ratio jumps;  // mean number of jumps taken, as in CallCost
  bool allowed = false;
  std::string inputs;  // number of inputs that mean and jumps cover, decimal
};

struct CallCost {
  std::string name;
  std::uint64_t calls;
  bool cached;  // the kernel answers without running the filters (seccomp/cache.h)
  // The next three members count executed instructions, as if the kernel had no cache.
  double mean;
  std::size_t least;
  std::size_t most;
  std::size_t inputs;  // number of inputs that these figures cover
  // Mean number of jumps taken: JA by more than 0, and conditional jumps that do not fall through
  double jumps;
};

// Returns the cost of each system call of `profile` on `arch`, in the profile's order. It omits
// names that `arch` does not have (unknown_calls lists them). The cost covers these inputs:
//   - those with this arch and number that all filters allow (ALLOW with any data bits), because a
//     running program makes such calls;
//   - if the filters allow none of these, all inputs with this arch and number;
//   - if `inputs` has none with this arch and number, the input whose other words are 0;
//     CallCost::inputs is then 0.
std::vector<CallCost> profile_cost(FilterStack stack, Arch arch,
                                   std::span<const SyscallCount> profile,
                                   std::span<const SeccompData> inputs);
inline std::vector<CallCost> profile_cost(ProgramView program, Arch arch,
                                          std::span<const SyscallCount> profile,
                                          std::span<const SeccompData> inputs) {
  return profile_cost(FilterStack(&program, 1), arch, profile, inputs);
}

// Returns the mean number of instructions per call of the profile, or 0 if it has no calls. A
// cached call costs 0.
double weighted_mean(std::span<const CallCost> costs);

// Returns the mean for a kernel without a cache.
double weighted_mean_uncached(std::span<const CallCost> costs);

}  // namespace secequiv
