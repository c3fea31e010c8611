// The unoptimized compiler: a policy as straightforward BPF. It owns nothing clever on purpose:
// linear over rule sets and system calls, every matcher rendered in place, every decision followed
// by two unconditional jumps. What optimizers produce is compared with this.
#pragma once

#include "harness/bpf/insn.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A legal program (the length rule aside: it may exceed 4096 instructions) with run(compile(p), d)
// == decide(p, d) for every d. Jumps reach any distance. Linear in the number of rules.
Program compile(const Policy& policy);

}  // namespace secequiv
