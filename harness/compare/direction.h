// Whether a filter became more or less permissive than another, system call by system call. Owns
// the shape; verify/dd fills it, report/ renders it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/compare/pair.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// The differences of two filters, sorted by their effect on the caller. A system call can have
// several kinds: one for some of its arguments, another for others.
struct Direction {
  enum class Kind : std::uint8_t {
    kAllowed,   // was neither ALLOW nor LOG before, and is one of them now
    kLooser,    // more permissive in another way: LOG became ALLOW, KILL became ERRNO
    kStricter,  // less permissive
    kChanged,   // the same action with other data, such as the error number
  };
  struct Call {
    Arch arch;
    std::uint32_t nr;
    bool always;  // whatever the arguments and the instruction pointer

    friend bool operator==(const Call&, const Call&) = default;
  };
  // The inputs of one kind.
  struct Part {
    std::vector<Call> calls;       // with a name, by architecture, then number
    bool unnamed_numbers = false;  // also numbers without a name, of a known architecture
    bool unknown_arches = false;   // also architectures that we do not know

    [[nodiscard]] bool empty() const {
      return calls.empty() && !unnamed_numbers && !unknown_arches;
    }
    friend bool operator==(const Part&, const Part&) = default;
  };

  Part allowed;
  Part looser;
  Part stricter;
  Part changed;
  // Whether the difference is the same on every architecture. The calls are then those of the host.
  bool by_number = false;
  // Whether all inputs were examined; otherwise the parts hold what single inputs showed.
  bool complete = true;
  // The input to show: one that loosens most, if any does. Newly allowed inputs come first, then
  // other kinds in the order above; then known calls of the host, the strictest action before, the
  // fewest non-zero words. Nothing if nothing differs.
  std::optional<Witness> example;

  [[nodiscard]] bool loosens() const { return !allowed.empty() || !looser.empty(); }
  [[nodiscard]] bool empty() const { return !loosens() && stricter.empty() && changed.empty(); }
};

// "ALLOW became ERRNO(1 EPERM) for nr=..., ...".
std::string became_text(const Witness& witness);

// What a difference on one input does to the caller. Kinds are ordered: the first is the worst.
Direction::Kind kind_of(const Witness& witness);

// The direction that single inputs show, for when it cannot be determined for all inputs.
Direction direction_of(std::span<const Witness> witnesses);

}  // namespace secequiv
