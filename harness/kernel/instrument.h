// Programs rewritten so that Linux evaluates them on any input without running a system call. Every
// return becomes an error number, and words that a caller cannot choose (nr, arch, ip) are read
// from arguments that the program does not use. Owns both rewritings and how results are read back;
// every operation on A, X and M[] stays unchanged. It must not know how programs get into the
// kernel (traced.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// The arguments in seccomp_data are words 4..15; a caller can set every bit of them.
inline constexpr std::size_t kFirstArgWord = 4;
inline constexpr std::size_t kWords = SeccompData::kWords;

// Where a program's loads go.
struct LoadPlan {
  // For each word of an input, the word of the call that carries it.
  std::array<std::uint8_t, kWords> carrier{};
  // Words without a carrier, if the program reads more than 12. Their loads become LD|IMM, and the
  // program is installed once for each combination of their values.
  std::vector<std::uint8_t> fixed;
};

// Assigns carriers to the words that `program` reads. If there are more than 12, those with the
// fewest values in `inputs` are fixed.
LoadPlan plan_loads(ProgramView program, std::span<const SeccompData> inputs);
// Loads stay unchanged.
LoadPlan direct_loads();

// One program to install. It returns 12 bits (an errno): an index, or some bits of the value.
struct Pass {
  Program program;
  unsigned shift = 0;
};

struct Instrumented {
  std::vector<Pass> passes;
  // If every return is RET|K, there is one pass, which returns indices into this. Otherwise this is
  // empty, and the passes return bits 0..11, 12..23 and 24..31.
  std::vector<std::uint32_t> values;
};

// Errors: kRejected (it returns A and has no room for the 4 instructions that split A).
Status has_room(ProgramView program);

// `fixed_values`: values of the words in `plan.fixed`. Precondition: the kernel accepts `program`.
// Errors: those of has_room().
Result<Instrumented> instrument(ProgramView program, const LoadPlan& plan,
                                const SeccompData& fixed_values);

// The call that carries `input`. `nr` is its number.
SeccompData carried(const SeccompData& input, const LoadPlan& plan, std::uint32_t nr);

}  // namespace secequiv::kernel
