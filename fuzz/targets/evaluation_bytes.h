// Owns the layout of a fuzz target's input that holds a program and inputs for it, and its mutator.
// It must not know what the target does with them.
//   byte 0        the number of inputs, 1 to 16
//   64 each       inputs: struct seccomp_data, little endian
//   the rest      a program that the kernel accepts, raw, little endian
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv::fuzz {

inline constexpr std::size_t kMaxInputs = 16;

struct Evaluations {
  Program program;
  std::vector<SeccompData> inputs;
};

// Returns std::nullopt if `bytes` have another layout.
std::optional<Evaluations> read_evaluations(std::span<const std::uint8_t> bytes);
std::string write_evaluations(const Evaluations& evaluations);

// Implements LLVMFuzzerCustomMutator.
std::size_t mutate_evaluations(std::span<std::uint8_t> out, std::size_t size, unsigned seed);

}  // namespace secequiv::fuzz
