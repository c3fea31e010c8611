// The unoptimized compiler: it translates a policy to straightforward BPF. It is deliberately
// naive: linear over rule sets and system calls, every matcher emitted in place, every test
// followed by two unconditional jumps. Owns this translation, which is the reference for optimizer
// output. It must not optimize.
#pragma once

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Returns a legal program (except that it may exceed 4096 instructions) with run(compile(p), d) ==
// decide(p, d) for every d. The size is linear in the number of rules.
Program compile(const Policy& policy);

}  // namespace secequiv
