// Finds what a filter refuses as one system call and allows as another: another number of the same
// call, a multiplexer, a successor, io_uring. Owns when this is a finding. It must not know which
// calls do the same (harness/seccomp/doors.h) or how findings are shown.
//
// A filter that allows only what it lists refuses everything else, and that is no finding: a list
// with openat and without open is complete. A refusal counts as intended in three cases:
//   1. The filter allows unlisted calls on that architecture, so it refuses this one by name.
//   2. The decision depends on the call's arguments, so the filter refuses these arguments.
//   3. The other numbers of the call, as an x32 or 32-bit program makes it, are open: the filter
//      allows unlisted calls there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "harness/report/rule.h"
#include "harness/seccomp/doors.h"
#include "verify/dd/space.h"

namespace secequiv {

// What is refused, and an input that has the same effect and is allowed.
struct OpenDoor {
  std::string_view call;  // refused
  SeccompData refused;
  SeccompData door;
  std::string_view operation = {};  // of io_uring: "IORING_OP_OPENAT"
  std::string_view source = {};     // why both do the same
  DecidingRule rule = {};           // refuses; set by doors() only
};

struct DoorFinding {
  enum class Cause : std::uint8_t {
    kUncheckedArch,  // the filter treats numbers of `arch` as numbers of the host
    kOpenArch,       // the filter refuses nothing on `arch`
    kSameCall,       // the same calls are allowed on `arch`
    kMultiplexer,    // `door` does what several calls do
    kOtherCall,      // `door` has the same effect
    kIoUring,
  };
  Cause cause;
  Arch arch;              // of the door
  std::string_view door;  // name of the allowed call; empty if the calls have the same names
  // Whether the door has the same effect. Otherwise it needs something more.
  bool certain = true;
  std::string_view needs = {};     // also set for `arch` if the kernel may lack it
  std::vector<OpenDoor> open = {};  // not empty; one for each refused call
};

// Returns the findings for programs on `host`: for its own calls, and for those of x32 programs and
// of 32-bit programs that the same kernel runs. High halves of arguments count as 0, because the
// other part of `guard` examines them. The result is meaningless if the space is exhausted.
std::vector<DoorFinding> find_doors(dd::Space& space, const dd::Decisions& decisions, Arch host);

struct DoorsJob {
  Stack stack;
  Arch host = Arch::kX86_64;
  dd::Limits limits = {};
};

// Returns the findings with the rules that refuse; every input was run. Errors: kBudget if the
// limits are reached.
Result<std::vector<DoorFinding>> doors(const DoorsJob& job);

}  // namespace secequiv
