// Checks that every way to write a program reads back to the same one. It must not know where
// programs come from.
#pragma once

#include <string>

#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

// The form that does not read back, or empty. Precondition: not empty; it may be illegal.
std::string round_trip_failure(ProgramView program);

}  // namespace secequiv::fuzz
