// The reference optimizer's passes: pure functions Program → Program in one table. Owns the table
// and the fixpoint loop. A pass must not know the others, nor anything of policies.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

struct Pass {
  std::string_view name;
  std::string_view law;             // why the result decides the same, in one sentence
  std::string_view example_before;  // bpf_asm
  std::string_view example_after;
  // Precondition: check() accepts the program (the length rule aside); the result is accepted too,
  // decides the same and is not longer.
  Program (*run)(ProgramView);
};

// All bytecode passes, in the order in which one round applies them.
std::span<const Pass> bytecode_passes();

const Pass* find_pass(std::string_view name);

// One application of one pass.
struct PassStep {
  std::string_view pass;
  std::size_t round;
  std::size_t before;  // instructions
  std::size_t after;
  bool changed;
};

struct Optimized {
  Program program;
  std::vector<PassStep> steps;
  bool fixpoint = true;  // false: stopped at kMaxRounds with changes still happening (never seen;
                         // reported, not hidden)
};

inline constexpr std::size_t kMaxRounds = 1000;

// Applies `passes` round after round until a whole round changes nothing.
Optimized optimize(ProgramView program, std::span<const Pass* const> passes);

// With all bytecode passes.
Optimized optimize(ProgramView program);

}  // namespace secequiv
