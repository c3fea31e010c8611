// Owns all of libFuzzer's entry points except LLVMFuzzerInitialize, for targets that test an
// optimizer with raw programs (fuzz_program, fuzz_plugin). Each such target has its own
// LLVMFuzzerInitialize, which chooses the optimizer. The build compiles the file into each target,
// because libFuzzer finds entry points by name. It must not know which optimizer runs.
#pragma once

#include "fuzz/targets/target.h"
#include "fuzz/targets/trials.h"

namespace secequiv::fuzz {

// Sets the optimizer and the trials of all runs. Both must outlive the runs. At exit, the summary
// of `trials` is written to stderr. Returns what LLVMFuzzerInitialize must return.
int assess_each(Optimizer& optimizer, Trials& trials);

}  // namespace secequiv::fuzz
