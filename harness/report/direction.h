// Reports whether a filter became more permissive, as the first line of a report and as JSON. Owns
// the wording. It must not know how the direction is computed (verify/dd).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/direction.h"
#include "harness/report/describe.h"

namespace secequiv {

// Writes a list of names.
using NameList = std::function<std::string(std::span<const std::string>)>;
std::string comma_separated(std::span<const std::string> texts);

// Returns "LOOSER: memfd_create, shmat newly allowed; read: KILL_PROCESS -> ERRNO(1 EPERM);
// stricter: 380 calls", "only stricter: read, write", "only the data of actions changed: 3 calls",
// or "" if nothing differs. The line lists every call that became more permissive, unless a changed
// default action affects very many calls (fallback_calls lists these) or the filters are for
// different architectures. It names architectures unless only calls of `host` differ.
std::string direction_line(const Direction& direction, Arch host,
                           const NameList& list = comma_separated);

// Returns a line with the calls that the first line only counts, because a changed default action
// affects them; otherwise "".
std::string fallback_calls(const Direction& direction, Arch host);

// Returns the line of direction_line(), or "" if the direction is not known.
std::string direction_line(const std::optional<Direction>& direction, Arch host);

// Returns "LOOSER", "only stricter" or "only data changed". Returns "" if nothing differs, or if
// some inputs were not examined and none of the others became more permissive.
std::string_view headline(const Direction& direction);

// The number of system calls in several parts, counted by name as in the direction line.
struct CallCount {
  std::string calls;                     // "3"; "every" if no call is missing
  std::vector<std::string_view> others;  // groups without a count: "numbers without a name"
};
CallCount count_calls(const Direction& direction, Arch host,
                      std::span<const Direction::Part* const> parts);

// Returns the line, then the witness: "LOOSER: socket newly allowed; ERRNO(1 EPERM) became ALLOW
// for ...".
std::string directed(const std::string& line, const Witness& witness);

// A direction names calls as the host does.
struct ShownDirection {
  const Direction& direction;
  Arch host;
};
void describe(Fields<Direction::Call>& call);
void describe(Fields<Direction::Part>& part);
void describe(Fields<ShownDirection>& direction);
// Returns the direction to show, if there is one.
inline std::optional<ShownDirection> shown_direction(const std::optional<Direction>& direction,
                                                     Arch host) {
  if (!direction) return std::nullopt;
  return ShownDirection{*direction, host};
}

}  // namespace secequiv
