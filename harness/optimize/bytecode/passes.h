// Owns the list of bytecode passes, which are pure functions. The table in pass.cc has their laws
// and examples. A pass must not know the others.
#pragma once

#include "harness/bpf/insn.h"

namespace secequiv::detail {

Program thread_conditional_jumps(ProgramView program);
Program thread_jumps(ProgramView program);
Program merge_equal_targets(ProgramView program);
Program remove_null_jumps(ProgramView program);
Program remove_unreachable(ProgramView program);
Program remove_redundant_loads(ProgramView program);
Program replace_jumps_to_returns(ProgramView program);
Program merge_returns(ProgramView program);
Program merge_equal_code(ProgramView program);
Program skip_redundant_loads(ProgramView program);
Program skip_decided_tests(ProgramView program);
Program remove_dead_writes(ProgramView program);
Program fewer_tests(ProgramView program);

}  // namespace secequiv::detail
