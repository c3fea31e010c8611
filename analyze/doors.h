// Finds what a filter refuses as one system call and allows as another: another number of the same
// call, a multiplexer, a successor, io_uring. Owns when this is a finding. It must not know which
// calls do the same (harness/seccomp/doors.h) or how findings are shown
// (harness/report/doors.h).
//
// A filter that allows only what it lists refuses everything else, and that is no finding: a list
// with openat and without open is complete. A refusal counts as intended in three cases:
//   1. The filter allows unlisted calls on that architecture, so it refuses this one by name.
//   2. The decision depends on the call's arguments, so the filter refuses these arguments. If the
//      filter lists the values that the other call may have there, it means to allow them.
//   3. The other numbers of the call, as an x32 or 32-bit program makes it, are open: the filter
//      allows unlisted calls there.
#pragma once

#include <vector>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/doors.h"
#include "verify/dd/space.h"

namespace secequiv {

// Returns the findings for programs on `host`: for its own calls, and for those of x32 programs and
// of 32-bit programs that the same kernel runs. High halves of arguments count as 0, because the
// other part of `guard` examines them. The result is meaningless if the space is exhausted.
std::vector<DoorFinding> find_doors(dd::Space& space, const dd::Decisions& decisions, Arch host);

// Returns the findings with the rules that refuse; every input was run. `decisions` are those of
// the stack. Errors: kBudget if the space is exhausted; kInternal if an input is decided
// differently when run.
Result<std::vector<DoorFinding>> doors(dd::Space& space, const dd::Decisions& decisions,
                                       const Stack& stack, Arch host);

}  // namespace secequiv
