// Names for the values of system-call arguments. Owns which argument takes which constants
// (tables/constants.inc has their values). It must not know filters.
#pragma once

#include <cstdint>
#include <string>

#include "harness/seccomp/arch.h"

namespace secequiv {

// "AF_ALG" for socket's argument 0 with 0x26, "SOCK_STREAM|SOCK_CLOEXEC" for its argument 1 with
// 0x80001. Empty if the argument takes no constants that we know, or no constants make the value.
std::string argument_name(Arch arch, std::uint32_t nr, int argument, std::uint64_t value);

}  // namespace secequiv
