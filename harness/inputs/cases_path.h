// Inputs that follow a program's paths. Owns the search for inputs that show the effect of each
// test, jump and load of a program. It only runs the program. Part of cases.h.
#pragma once

#include <span>
#include <vector>

#include "harness/inputs/case_set.h"

namespace secequiv::detail {

// Adds to `set` inputs on which one of these changes of the program alters the result, if no input
// in `known` shows it:
//  - the other outcome of a conditional jump, with tested values that differ from the constant by
//    one bit or by one;
//  - a jump to the instruction before or after its target;
//  - an instruction left out;
//  - a load of another word.
// The result depends only on program, inputs and limits: the search ends when the set is full or
// after limits.steps. Precondition: the kernel accepts the program (the length rule aside).
void add_path_cases(ProgramView program, std::span<const SeccompData> known, CaseSet& set);

}  // namespace secequiv::detail
