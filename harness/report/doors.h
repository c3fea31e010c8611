// What a filter refuses as one system call and allows as another, as text and JSON. Owns the report
// value and these shapes. It must not know how doors are found (analyze/doors.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/describe.h"
#include "harness/report/rule.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// What is refused, and an input that has the same effect and is allowed.
struct OpenDoor {
  std::string_view call;  // refused
  std::string_view door;  // allowed
  SeccompData refused = {};
  SeccompData allowed = {};
  std::string_view operation = {};  // of io_uring: "IORING_OP_OPENAT"
  // What the door needs besides permission; also set if a kernel can be built without its
  // architecture. Most kernels have the entries of i386 and arm, so these doors are certain.
  std::string_view needs = {};
  std::string_view source = {};  // why both do the same
  DecidingRule rule = {};        // what refuses, if known
};

// All doors with one cause, for one line of a report.
struct DoorFinding {
  enum class Cause : std::uint8_t {
    kUncheckedArch,  // the filter does not test the architecture
    kSameNumbers,    // the filter treats numbers of `arch` as numbers of the host
    kSwappedArch,    // the filter refuses all calls of the host and allows unknown architectures
    kOpenArch,       // the filter refuses nothing on `arch`
    kSameCall,       // the filter allows the same calls on `arch`
    kMultiplexer,    // one call does what several calls do, with arguments in memory
    kOtherCall,      // other calls have the same effect
    kIoUring,        // requests in shared memory have the same effect
  };
  Cause cause;
  bool certain;  // the effect is the same; if not, `needs` of the doors tell what else it takes
  Arch arch;     // of the doors
  std::vector<OpenDoor> open = {};  // not empty; each with another call or another door
};

// Returns the name in reports: "open_arch".
std::string_view door_cause(DoorFinding::Cause cause);

// Returns one line that names the cause and a few calls: "certain: i386: the filter refuses
// nothing; 68 calls refused on x86_64 and allowed on i386: ptrace, syslog, uselib and 65 more".
std::string door_line(const DoorFinding& finding);

// Returns the line, and below it the first refused input, the allowed input and the source.
std::string door_text(const DoorFinding& finding);

void describe(Fields<OpenDoor>& open);
void describe(Fields<DoorFinding>& finding);

}  // namespace secequiv
