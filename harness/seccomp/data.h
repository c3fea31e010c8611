// Text and byte forms of struct seccomp_data. Owns the names of its words, the one-line form of a
// system call, and its bytes. It must not know how filters use the data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bpf/seccomp_data.h"

namespace secequiv {

// Returns "nr", "arch", "args[0].lo", "ip.hi", ... for word 0..15.
std::string word_name(std::uint32_t word, Endian endian);

// Returns "nr=257 (openat) arch=0xc000003e (x86_64) ip=0x0 args=[0x3, ...]", with names if the
// tables have them and without trailing zero arguments.
std::string describe(const SeccompData& data);
// Returns the first part of describe(): the number and the architecture.
std::string describe_call(const SeccompData& data);

// Returns the inputs as records of 64 little-endian bytes.
std::string input_bytes(std::span<const SeccompData> inputs);

// Reads the records that input_bytes() writes. Precondition: the size is a multiple of 64.
std::vector<SeccompData> inputs_from(std::string_view bytes);

}  // namespace secequiv
