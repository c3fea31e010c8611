// What is known about the accumulator before each instruction, from one forward pass: which input
// word it holds, under which mask. Owns that one analysis, which annotation, case derivation and
// the redundant-load pass share. It must not know what the words mean.
#pragma once

#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

// A before an instruction: nothing reaches it (kUnreached), it may be anything (kUnknown), or it is
// word & mask.
struct Accumulator {
  enum class Kind : std::uint8_t { kUnreached, kUnknown, kWord };
  Kind kind = Kind::kUnreached;
  std::uint8_t word = 0;
  std::uint32_t mask = 0xffffffff;

  // A is exactly input word `w`.
  [[nodiscard]] bool is_word(std::uint32_t w) const {
    return kind == Kind::kWord && word == w && mask == 0xffffffff;
  }
  friend bool operator==(const Accumulator&, const Accumulator&) = default;
};

// One entry per instruction. Precondition: check() accepts the program (the length rule aside).
std::vector<Accumulator> accumulator_flow(ProgramView program);

// One for each instruction, 0 or 1; bytes, because passes are several times slower with bits.
using Marks = std::vector<std::uint8_t>;

// 1 for each instruction that some path of jumps leads to, conditions not considered.
Marks reachable(ProgramView program);

// The distinct instructions that may follow `pc` (0, 1 or 2), written to `out`; returns how many.
// RET has none.
std::size_t successors(ProgramView program, std::size_t pc, std::size_t (&out)[2]);

}  // namespace secequiv
