// Policies as inputs of fuzz targets, in our JSON format. Owns the mutator on text. It must not
// know what happens to the policies.
#pragma once

#include <cstdint>
#include <span>

namespace secequiv::fuzz {

// The body of LLVMFuzzerCustomMutator: replaces the `size` bytes in `out` by a legal policy, a
// changed copy if they were one. Returns 0 if `out` has no room for one.
std::size_t mutate_policy_text(std::span<std::uint8_t> out, std::size_t size, unsigned seed);

}  // namespace secequiv::fuzz
