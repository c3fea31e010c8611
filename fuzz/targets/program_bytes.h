// Programs as inputs of fuzz targets: raw and little endian, so that the tool can read what a
// target stores. Owns reading them and the mutators on bytes. It must not know what happens to the
// programs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

using Bytes = std::span<const std::uint8_t>;

// Empty unless `bytes` hold a program that the kernel accepts.
std::optional<Program> legal_program(Bytes bytes);

// The whole instructions in `bytes`, legal or not.
Program any_program(Bytes bytes);

// A number that depends on the whole program, to seed random choices: a replay repeats them.
std::uint64_t fingerprint(ProgramView program);

// A changed copy of `program` (mutate_program), or a generated one: sometimes, and if there is
// none. At most `room` >= 1 instructions.
Program changed_program(Random& random, const std::optional<Program>& program, ProgramView donor,
                        std::size_t room);

// The bodies of LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver. Always a legal program; 0
// bytes if `out` has no room for an instruction.
std::size_t mutate_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed);
std::size_t cross_program_bytes(Bytes first, Bytes second, std::span<std::uint8_t> out,
                                unsigned seed);

// The custom mutator for programs that may be illegal (near_legal.h).
std::size_t mutate_any_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed);

}  // namespace secequiv::fuzz
