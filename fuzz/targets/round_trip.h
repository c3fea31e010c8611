// Every way to write a program reads back to the same one. It must not know where programs come
// from.
#pragma once

#include <string>

#include "harness/bpf/insn.h"

namespace secequiv::fuzz {

// What does not, empty if all do. Any program but the empty one, legal or not.
std::string round_trip_failure(ProgramView program);

}  // namespace secequiv::fuzz
