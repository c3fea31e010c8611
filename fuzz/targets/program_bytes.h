// Owns programs as inputs of fuzz targets: reading them, and the mutators for bytes. The bytes are
// raw and little endian, so that the command line can read stored inputs. It must not know how
// targets use the programs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

using Bytes = std::span<const std::uint8_t>;

// Returns std::nullopt unless `bytes` contain a program that the kernel accepts.
std::optional<Program> legal_program(Bytes bytes);

// Returns the complete instructions in `bytes`, legal or not.
Program any_program(Bytes bytes);

// Returns a number that depends on the whole program. It seeds random choices, so that a replay
// repeats them.
std::uint64_t fingerprint(ProgramView program);

// Returns a changed copy of `program` (mutate_program) or, sometimes, a generated program. Always
// generates one if `program` is empty. The result has at most `room` >= 1 instructions.
Program changed_program(Random& random, const std::optional<Program>& program, ProgramView donor,
                        std::size_t room);

// Implement LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver. They write a legal program, or
// return 0 if `out` has no room for an instruction.
std::size_t mutate_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed);
std::size_t cross_program_bytes(Bytes first, Bytes second, std::span<std::uint8_t> out,
                                unsigned seed);

// Implements LLVMFuzzerCustomMutator for programs that may be illegal
// (harness/generate/near_legal.h).
std::size_t mutate_any_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed);

}  // namespace secequiv::fuzz
