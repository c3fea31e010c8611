// Classes of inputs that the kernel cannot tell apart: they differ only in bits of arguments that
// the kernel ignores (seen_bits.h). Owns these bits as masks of words. It must not know filters.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/seccomp/data.h"

namespace secequiv {

// One mask for each word of seccomp_data.
using WordMasks = std::array<std::uint32_t, SeccompData::kWords>;

// Returns the bits of each word that distinguish classes. nr, arch and instruction_pointer count
// whole: no call ignores the first two, and the last one shows which code made the call.
WordMasks seen_words(std::uint32_t audit, std::uint32_t nr);

// Returns the member of the input's class whose ignored bits are all 0.
SeccompData class_of(const SeccompData& data);

// Describes the bits that two inputs of one class do not share: "the kernel ignores bits 32 to 63
// of arg0". Returns one text for each argument.
std::vector<std::string> ignored_differences(const SeccompData& a, const SeccompData& b);

}  // namespace secequiv
