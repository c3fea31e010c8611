// Programs rewritten so that Linux evaluates them on any input and runs no system call for it:
// every return becomes an error number, and words that a caller cannot choose (nr, arch, ip) are
// read from system-call arguments that the program leaves alone. Owns both rewritings and how
// answers are read back. Everything else, above all every operation on A, X and M[], stays as it
// is. It must not know how programs get into the kernel (traced.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// seccomp_data's arguments are words 4..15; a caller can set all of them, bit for bit.
inline constexpr std::size_t kFirstArgWord = 4;
inline constexpr std::size_t kWords = SeccompData::kWords;

// Where a program's loads go.
struct LoadPlan {
  // For each word of an input: the word of the call that carries it.
  std::array<std::uint8_t, kWords> carrier{};
  // Words that are read but not carried, as there are more than 12: their loads become LD|IMM, so
  // that a program is installed for each combination of values.
  std::vector<std::uint8_t> fixed;
};

// `program` reads whichever words it does; of more than 12, those are fixed that have the fewest
// values in `inputs`.
LoadPlan plan_loads(ProgramView program, std::span<const SeccompData> inputs);
// Loads stay as they are.
LoadPlan direct_loads();

// One program to install. Its answer is 12 bits (an errno): either an index, or bits of the value.
struct Pass {
  Program program;
  unsigned shift = 0;
};

struct Instrumented {
  std::vector<Pass> passes;
  // Of RET|K only: one pass, whose answers are indices into this. Otherwise empty, and the passes
  // give bits 0..11, 12..23 and 24..31.
  std::vector<std::uint32_t> values;
};

// Errors: kRejected, it returns A and has no room for the 4 instructions that split it.
Status has_room(ProgramView program);

// `fixed_values`: what the words in `plan.fixed` are. Precondition: check() accepts the program.
// Errors: those of has_room().
Result<Instrumented> instrument(ProgramView program, const LoadPlan& plan,
                                const SeccompData& fixed_values);

// The call that carries `input`. `nr` is its number.
SeccompData carried(const SeccompData& input, const LoadPlan& plan, std::uint32_t nr);

}  // namespace secequiv::kernel
