// Computes what the accumulator holds before each instruction, in one forward pass: which input
// word, under which mask. Owns this analysis. Annotation, case derivation and the redundant-load
// pass share it. It must not know what the words mean.
#pragma once

#include <vector>

#include "harness/bpf/insn.h"

namespace secequiv {

// The accumulator before an instruction. kUnreached: no path leads here. kUnknown: any value is
// possible. kWord: it holds input word `word` & `mask`.
struct Accumulator {
  enum class Kind : std::uint8_t { kUnreached, kUnknown, kWord };
  Kind kind = Kind::kUnreached;
  std::uint8_t word = 0;
  std::uint32_t mask = 0xffffffff;

  // Returns whether A is exactly input word `w`.
  [[nodiscard]] bool is_word(std::uint32_t w) const {
    return kind == Kind::kWord && word == w && mask == 0xffffffff;
  }
  friend bool operator==(const Accumulator&, const Accumulator&) = default;
};

// Returns one entry per instruction. Precondition: the kernel accepts the program, except for its
// length.
std::vector<Accumulator> accumulator_flow(ProgramView program);

// One byte (0 or 1) per instruction. std::vector<bool> would make the passes several times slower.
using Marks = std::vector<std::uint8_t>;

// Marks each instruction that jumps can reach if every condition may be true or false.
Marks reachable(ProgramView program);

// The longest forward distance of a conditional jump, in instructions.
inline constexpr std::size_t kJumpReach = 255;

// Writes the distinct instructions that may follow `pc` to `out` and returns their number: 0 for a
// RET, else 1 or 2.
std::size_t successors(ProgramView program, std::size_t pc, std::size_t (&out)[2]);

}  // namespace secequiv
