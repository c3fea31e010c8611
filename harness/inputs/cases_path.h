// Inputs that follow a program's paths. Owns the search for inputs that show of each test, jump and
// load of a program that it matters. Runs the program, and nothing else. Part of cases.h.
#pragma once

#include <span>
#include <vector>

#include "harness/inputs/case_set.h"

namespace secequiv::detail {

// Adds to `set` inputs that, beside those of `known`, make a difference that one of these would not
// have made:
//  - the other outcome of a conditional jump, with the value tested at every distance of one bit or
//    one from the constant;
//  - a jump to the instruction before or behind its target;
//  - an instruction left out;
//  - a load of another word.
// What it finds depends on program, inputs and limits alone: the search ends when the set is full
// or after limits.steps. Precondition: check() accepts the program (the length rule aside).
void add_path_cases(ProgramView program, std::span<const SeccompData> known, CaseSet& set);

}  // namespace secequiv::detail
