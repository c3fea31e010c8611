// Owns the numbers from which the instructions of one program choose. There are few, so that tests,
// loads and returns often use the same numbers. It must not know how they were chosen.
#pragma once

#include <span>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv::detail {

struct Palette {
  std::span<const std::uint32_t> words;  // indices of words of struct seccomp_data
  std::span<const std::uint32_t> constants;
  std::span<const std::uint32_t> returns;
};

// Generates a program like random_program(), but with these numbers.
Program program_from(Random& random, std::size_t length, const Palette& palette);

}  // namespace secequiv::detail
