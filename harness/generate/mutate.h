// Changes to given programs and policies: small ones, which keep them legal. Owns the changes. It
// must not know what the results are for.
#pragma once

#include "harness/base/random.h"
#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

// `program` with one to four changes: constants, fields, opcodes, targets; instructions inserted
// (loads, stores, jumps), deleted, moved; blocks repeated with one change or taken from `donor`.
// check() accepts the result if it accepts `program`, and under the same rule of length; so do
// preconditions: check() accepts both (the length rule aside). Seldom the program itself.
Program mutate_program(Random& random, ProgramView program, ProgramView donor = {});

// `policy` with one to three changes: values and masks, operators, fields, numbers, actions; rules,
// sets, alternatives repeated, dropped, moved. What read_policy makes of write_policy's text.
Policy mutate_policy(Random& random, const Policy& policy);

}  // namespace secequiv
