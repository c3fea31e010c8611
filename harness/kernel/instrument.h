// Rewrites programs so that Linux evaluates them on any input without running a system call. Every
// return becomes an error number, and words that a caller cannot choose (nr, arch, ip) come from
// arguments that the program does not use. Owns both rewritings and how results are read back.
// Operations on A, X and M[] stay unchanged. It must not know how programs get into the kernel
// (kernel.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"
#include "harness/kernel/kernel.h"

namespace secequiv::kernel {

inline constexpr std::size_t kWords = SeccompData::kWords;

// Which words a rewritten program loads.
struct LoadPlan {
  // For each word of an input: the word of the call that carries its value.
  std::array<std::uint8_t, kWords> carrier{};
  // Words without a carrier, if the program reads more words than a caller can set. Their loads
  // become LD|IMM, and the program is installed once for each combination of their values.
  std::vector<std::uint8_t> fixed;
};

// Returns the words of which a caller by `entry` can set every bit: both halves of all arguments,
// or only the low halves if an argument has 32 bits.
std::vector<std::uint8_t> free_words(const Entry& entry);

// Assigns one of the `free` words to each word that `program` reads. If there are not enough, the
// words with the fewest values in `inputs` go to `fixed`.
LoadPlan plan_loads(ProgramView program, std::span<const SeccompData> inputs,
                    std::span<const std::uint8_t> free);
// Returns the plan that leaves loads unchanged.
LoadPlan direct_loads();

// One program to install. It returns an errno of 12 bits: an index, or 12 bits of the value from
// bit `shift` on.
struct Pass {
  Program program;
  unsigned shift = 0;
};

struct Instrumented {
  std::vector<Pass> passes;
  // If every return is RET|K, there is one pass, which returns indices of `values`. Otherwise
  // `values` is empty, and three passes return bits 0..11, 12..23 and 24..31.
  std::vector<std::uint32_t> values;
};

// Checks whether `program` has room for the 4 instructions that split A, if it returns A. Errors:
// kRejected.
Status has_room(ProgramView program);

// Rewrites `program`. `fixed_values` has the values of the words in `plan.fixed`. Precondition: the
// kernel accepts `program`. Errors: those of has_room().
Result<Instrumented> instrument(ProgramView program, const LoadPlan& plan,
                                const SeccompData& fixed_values);

// Returns the call with number `nr` that carries `input`.
SeccompData carried(const SeccompData& input, const LoadPlan& plan, std::uint32_t nr);

// Gives the words in `plan.fixed` the values of the first `most` inputs, so that the program is
// installed at most that often.
void share_fixed_words(std::span<SeccompData> inputs, const LoadPlan& plan, std::size_t most);

}  // namespace secequiv::kernel
