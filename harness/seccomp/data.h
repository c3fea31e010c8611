// Shows struct seccomp_data to people: the names of its words, and one system call in a line. It
// must not know how filters use the data.
#pragma once

#include <string>

#include "harness/bpf/seccomp_data.h"

namespace secequiv {

// "nr", "arch", "args[0].lo", "ip.hi", ... for word 0..15.
std::string word_name(std::uint32_t word, Endian endian);

// "nr=257 (openat) arch=x86_64 ip=0x0 args=[0x3, ...]", naming what the tables know; trailing zero
// arguments are left out.
std::string describe(const SeccompData& data);

}  // namespace secequiv
