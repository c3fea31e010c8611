// Programs as the inputs of fuzz targets: raw, little endian, as the tool reads them, so that
// what a target stores is a program. Owns reading them and the mutators on bytes. It must not know
// what programs are put through.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

using Bytes = std::span<const std::uint8_t>;

// Nothing if `bytes` hold no program that the kernel accepts.
std::optional<Program> legal_program(Bytes bytes);

// The whole instructions in `bytes`, legal or not.
Program any_program(Bytes bytes);

// A number that depends on all of the program: what is drawn at random for it is drawn again when
// it is replayed.
std::uint64_t fingerprint(ProgramView program);

// `program` changed (mutate_program), now and then another one; at most `room` >= 1 instructions. A
// generated program if there is none.
Program changed_program(Random& random, const std::optional<Program>& program, ProgramView donor,
                        std::size_t room);

// The bodies of LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver. Always a legal program; 0
// bytes if `out` has no room for an instruction.
std::size_t mutate_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed);
std::size_t cross_program_bytes(Bytes first, Bytes second, std::span<std::uint8_t> out,
                                unsigned seed);

// The former for programs of any kind (near_legal.h).
std::size_t mutate_any_program_bytes(std::span<std::uint8_t> out, std::size_t size, unsigned seed);

}  // namespace secequiv::fuzz
