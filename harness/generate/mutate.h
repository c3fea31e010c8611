// Small changes to programs and policies that keep them legal. Owns the kinds of changes. It must
// not know what the results are for.
#pragma once

#include "harness/base/random.h"
#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Returns `program` with one to four changes. They rarely cancel each other. The changes are: other
// constants, fields, opcodes or targets; instructions inserted (loads, stores, jumps) or deleted;
// blocks moved, repeated, or copied from `donor`; lists continued, sometimes by hundreds of
// entries; the end of `donor` in place of the program's end. Precondition: the kernel accepts both
// programs, except for their length. It accepts the result under the same length rule as `program`.
Program mutate_program(Random& random, ProgramView program, ProgramView donor = {});

// Returns `policy` with one to three changes: other values, masks, operators, fields, numbers or
// actions; rules, sets or alternatives repeated, dropped or moved. Writing the result with
// write_policy() and reading it with read_policy() gives the same policy.
Policy mutate_policy(Random& random, const Policy& policy);

}  // namespace secequiv
