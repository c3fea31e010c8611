// Owns the mutator for policies in our JSON format as inputs of fuzz targets. It must not know how
// targets use the policies.
#pragma once

#include <cstdint>
#include <span>

namespace secequiv::fuzz {

// Implements LLVMFuzzerCustomMutator. Replaces the `size` bytes in `out` by a legal policy. If the
// bytes were a policy, the new policy is a changed copy. Returns 0 if `out` is too small.
std::size_t mutate_policy_text(std::span<std::uint8_t> out, std::size_t size, unsigned seed);

}  // namespace secequiv::fuzz
