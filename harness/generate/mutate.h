// Small changes to programs and policies that keep them legal. Owns the kinds of changes. It must
// not know what the results are for.
#pragma once

#include "harness/base/random.h"
#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

// `program` with one to four changes: constants, fields, opcodes, targets; instructions inserted
// (loads, stores, jumps), deleted, moved; blocks repeated with one change or taken from `donor`.
// Precondition: the kernel accepts both (the length rule aside). It accepts the result under the
// same length rule as `program`. The result seldom equals `program`.
Program mutate_program(Random& random, ProgramView program, ProgramView donor = {});

// `policy` with one to three changes: values and masks, operators, fields, numbers, actions; rules,
// sets, alternatives repeated, dropped, moved. read_policy() returns it from write_policy()'s text.
Policy mutate_policy(Random& random, const Policy& policy);

}  // namespace secequiv
