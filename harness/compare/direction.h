// Describes, for each system call, whether a changed filter is more or less permissive than before.
// Owns the data type, which verify/dd fills and report/ renders. It must not know engines.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/compare/difference.h"
#include "harness/compare/pair.h"
#include "harness/seccomp/arch.h"

namespace secequiv {

// The effect of a difference on the caller.
enum class Effect : std::uint8_t { kOpened, kClosed, kChanged };

// The differences of two filters, grouped by their effect on the caller. A system call can be in
// several groups, because its arguments can decide the effect.
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
    bool always;  // for all arguments and instruction pointers

    friend bool operator==(const Call&, const Call&) = default;
  };
  // The inputs of one kind.
  struct Part {
    std::vector<Call> calls;      // calls with a name, sorted by architecture, then number
    std::vector<Arch> unnamed;    // known architectures on which there are also unnamed numbers
    bool unknown_arches = false;  // there are also architectures that we do not know

    [[nodiscard]] bool empty() const { return calls.empty() && unnamed.empty() && !unknown_arches; }
    friend bool operator==(const Part&, const Part&) = default;
  };
  // The inputs with one change of the action. The data of a return value is known if it is the same
  // for all these inputs.
  struct Step {
    ReturnValue before;
    ReturnValue after;
    Part part;
  };
  // The architectures that the filters treat differently from unknown ones.
  struct Arches {
    std::vector<Arch> before;
    std::vector<Arch> after;
  };

  Part allowed;
  Part looser;
  Part stricter;
  Part changed;
  // Whether the difference is the same on every architecture. If so, `calls` lists the host's
  // calls.
  bool by_number = false;
  // Whether all inputs were examined. If not, the parts hold only what single inputs showed.
  bool complete = true;
  // Whether inputs were left out for which libseccomp chooses among the entries of a profile. Then
  // it is not complete.
  bool without_choices = false;
  // The input to show, or nothing if nothing differs. The choice prefers, in this order: the first
  // kind above, a known call of the host, the strictest action before the change, the fewest
  // non-zero words.
  std::optional<Witness> example;
  // The inputs of `looser` by their change; the largest gain of permissions comes first.
  std::vector<Step> looser_steps = {};
  // Set if the changed filter is more permissive, in the same way, for all unnamed call numbers of
  // the host. If none of them changed, the first other architecture with such a change counts.
  // `part` has the calls and numbers that changed in this way for all arguments.
  std::optional<Step> fallback = {};
  // Proven: the filters differ only on bits that the kernel ignores, so Sameness::kEffect finds
  // them the same.
  bool same_effect = false;
  // Set if both filters test for architectures, but for different ones.
  std::optional<Arches> arches = {};

  [[nodiscard]] bool loosens() const { return !allowed.empty() || !looser.empty(); }
  // Proven: some inputs are denied more, and none is allowed more.
  [[nodiscard]] bool only_stricter() const { return complete && !loosens() && !stricter.empty(); }
  [[nodiscard]] Effect effect() const {
    if (loosens()) return Effect::kOpened;
    return only_stricter() ? Effect::kClosed : Effect::kChanged;
  }
  [[nodiscard]] bool empty() const { return !loosens() && stricter.empty() && changed.empty(); }
};

// Sorts steps: the most permissive new action first, then the strictest old one.
void largest_first(std::vector<Direction::Step>& steps);

// Returns "ALLOW became ERRNO(1 EPERM) for nr=..., ...".
std::string became_text(const Witness& witness);

// Returns the effect of one change on the caller.
Effect effect_of(const ReturnValue& before, const ReturnValue& after);

// Returns the effect of a difference on one input.
Direction::Kind kind_of(const Witness& witness);

// Returns the direction that single inputs show, for callers that cannot examine all inputs.
Direction direction_of(std::span<const Witness> witnesses);

}  // namespace secequiv
