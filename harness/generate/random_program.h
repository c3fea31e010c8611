// Random programs and inputs for them. A seed gives the same results on every platform. Owns the
// plain generator, in which any instruction may follow any other. It must not know syscalls or
// policies.
#pragma once

#include <span>
#include <vector>

#include "harness/base/random.h"
#include "harness/bpf/interpreter.h"

namespace secequiv {

// Generates a program of `length` >= 1 instructions that the kernel accepts, except for its length.
// It may have all opcodes that seccomp allows, X and scratch memory, joins, chains of jumps, equal
// returns, repeated loads, dead code, jumps of any distance that fits, and sometimes a value in a
// field that the instruction does not use.
Program random_program(Random& random, std::size_t length);

// Generates inputs near the constants of `program`: each word is a constant, a neighbour of one, an
// extreme value, or random.
std::vector<SeccompData> random_inputs(Random& random, ProgramView program, std::size_t count);

namespace detail {

// The numbers from which the instructions of one program choose. There are few, so that tests,
// loads and returns often use the same numbers.
struct Palette {
  std::span<const std::uint32_t> words;  // indices of words of struct seccomp_data
  std::span<const std::uint32_t> constants;
  std::span<const std::uint32_t> returns;
};

// Generates a program like random_program(), but with these numbers.
Program program_from(Random& random, std::size_t length, const Palette& palette);

}  // namespace detail

}  // namespace secequiv
