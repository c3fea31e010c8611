// Pairs of system calls of which one does what the other does, so that a filter that refuses only
// one of them refuses nothing. Owns this knowledge, with its sources. It must not know filters.
//
// The door of a refused call is the other call through which the same effect is still reachable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "harness/seccomp/arch.h"

namespace secequiv {

// Where a call takes a value from.
struct DoorValue {
  enum class From : std::uint8_t {
    kAnywhere,  // from memory, or from a place that does not matter; filters do not see the value
    kArgument,  // from argument `argument`
    kConstant,  // the call always uses `constant`, as in parse_value()
    kBits,      // what matters is that all bits of `constant` are set
  };
  From from = From::kAnywhere;
  int argument = 0;
  std::string_view constant = {};
};

// One value that both calls use.
struct DoorLink {
  DoorValue refused;
  DoorValue door;
};

// The kinds of doors, in the order of reports.
enum class DoorKind : std::uint8_t {
  kMultiplexer,  // one call for many operations, whose arguments are in memory
  kOtherCall,    // a successor, a predecessor or a sibling
  kIoUring,      // requests in shared memory
};

// Which refusals of a call a door undoes.
struct DoorFor {
  enum class What : std::uint8_t {
    kAny,        // the whole call, or any condition on its arguments
    kListed,     // the same, but only if the filter allows unlisted calls. Lists of allowed calls
                 // narrow these calls to what a program uses, and mean no more by it.
    kWhole,      // only the whole call
    kFlag,       // the refusal of a flag: without it, the call is allowed
    kNamespace,  // the refusal of a flag, or of the whole call
    kOperation,  // the refusal of one value of an argument, if the call allows unknown values
  };
  What what = What::kAny;
  int argument = 0;
  std::string_view value = {};  // of kFlag, kNamespace and kOperation, as in parse_value()
};

struct Door {
  std::string_view call;  // refused
  std::string_view door;
  DoorKind kind = DoorKind::kOtherCall;
  DoorFor undoes = {};
  std::array<DoorLink, 4> links = {};
  std::array<std::string_view, 3> also = {};  // further calls that the door needs
  bool newer = false;  // the refused call is the newer one, so programs expect ENOSYS from it
  // What the door needs besides permission. Empty: it has the same effect ("certain", not
  // "possible").
  std::string_view needs = {};
  std::string_view operation = {};  // of io_uring
  std::string_view source = {};     // a manual page or a function of the kernel

  [[nodiscard]] bool certain() const { return needs.empty(); }
};

// Returns all doors. Each has names of calls that exist on some architecture.
std::span<const Door> all_doors();

// The operation of a call that does what other calls do: its first argument chooses the operation.
struct Operation {
  std::string_view call;  // socketcall or ipc
  std::uint32_t number;
};
// Returns the operation that does what `call` does, if there is one.
std::optional<Operation> multiplexed(std::string_view call);

// Returns whether the call takes a pointer to its arguments on `arch`.
bool has_arguments_in_memory(Arch arch, std::string_view call);

// Returns the argument of `call` on `arch` that is argument `argument` on x86_64. Precondition: the
// arguments are not in memory.
int door_argument(Arch arch, std::string_view call, int argument);

// Counts the first arguments of a call that have the same positions on 64-bit and 32-bit
// architectures. 64-bit arguments take two registers there.
int common_arguments(Arch arch32, std::string_view call);

}  // namespace secequiv
