// Derives inputs that show the effect of each test, jump and load of a program. Owns the search
// along the program's paths. It must not know what the words of the input mean.
#pragma once

#include <span>
#include <vector>

#include "harness/inputs/case_set.h"

namespace secequiv::detail {

// Adds to `set` inputs that reveal changes of the program: on each input, one of the following
// changes alters the result. It skips changes that an input in `known` already reveals:
//  - the other outcome of a conditional jump, with tested values that differ from the constant by
//    one bit or by one;
//  - a jump to the instruction before or after its target;
//  - an instruction left out;
//  - a load of another word.
// The result depends only on program, inputs and limits: the search ends when the set is full or
// after limits.steps. Precondition: the kernel accepts the program, except for its length.
void add_path_cases(ProgramView program, std::span<const SeccompData> known, CaseSet& set);

}  // namespace secequiv::detail
