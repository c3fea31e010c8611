// Policies as the inputs of fuzz targets: the text of our JSON format. Owns the mutators on text.
// It must not know what policies are put through.
#pragma once

#include <cstdint>
#include <span>

namespace secequiv::fuzz {

// The body of LLVMFuzzerCustomMutator: `out` holds `size` bytes and
// becomes a policy that reads, a changed one if it was one already. 0 if `out` has no room for one.
std::size_t mutate_policy_text(std::span<std::uint8_t> out, std::size_t size, unsigned seed);

}  // namespace secequiv::fuzz
