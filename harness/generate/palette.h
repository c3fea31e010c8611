// The numbers that one program's instructions choose from, so that tests, loads and returns meet.
#pragma once

#include <span>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv::detail {

struct Palette {
  std::span<const std::uint32_t> words;  // of struct seccomp_data
  std::span<const std::uint32_t> constants;
  std::span<const std::uint32_t> returns;
};

// random_program() with these numbers.
Program program_from(Random& random, std::size_t length, const Palette& palette);

}  // namespace secequiv::detail
