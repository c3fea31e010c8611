// Shared by the targets that test an optimizer with raw programs (fuzz_program, fuzz_plugin): all
// of libFuzzer's entry points but LLVMFuzzerInitialize, which chooses the optimizer. A source of
// each such target, as libFuzzer finds its entry points by their names.
#pragma once

#include "fuzz/targets/target.h"
#include "fuzz/targets/trials.h"

namespace secequiv::fuzz {

// What the runs ask from now on; both outlive them. The trials' summary is written to stderr at
// exit. Returns what LLVMFuzzerInitialize returns.
int assess_each(Optimizer& optimizer, Trials& trials);

}  // namespace secequiv::fuzz
