// Owns the check that every text form of a program reads back to the same program. It must not know
// where programs come from.
#pragma once

#include <string>

#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

// Returns the form that does not read back, or "". Precondition: `program` is not empty; it may be
// illegal.
std::string round_trip_failure(ProgramView program);

}  // namespace secequiv::fuzz
