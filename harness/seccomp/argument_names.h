// Names for the values of system-call arguments. Owns which argument takes which constants
// (tables/constants.inc has their values). It must not know filters.
#pragma once

#include <cstdint>
#include <string>

#include "harness/seccomp/arch.h"

namespace secequiv {

// Returns "AF_ALG" for value 0x26 of socket's argument 0, and "SOCK_STREAM|SOCK_CLOEXEC" for value
// 0x80001 of its argument 1. Returns "" if the tables have no constants for the argument, or if
// none of them gives the value.
std::string argument_name(Arch arch, std::uint32_t nr, int argument, std::uint64_t value);

// Returns "CLONE_NEWNS|CLONE_NEWUSER" for bits 0x10020000 of clone's argument 0. Returns "" if one
// of the bits is not a flag with a name.
std::string argument_flags(Arch arch, std::uint32_t nr, int argument, std::uint64_t bits);

}  // namespace secequiv
