// Whether a filter became more permissive, as the first line of a report and as JSON. Owns the
// wording. It must not know how the direction is computed (verify/dd).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/compare/direction.h"

namespace secequiv {

// Returns "LOOSER: memfd_create, shmat newly allowed; stricter: 380 calls", "only stricter: read,
// write", "only the data of actions changed: 3 calls", or "" if nothing differs. The line always
// lists every call that became more permissive. It names architectures unless only calls of `host`
// differ.
std::string direction_line(const Direction& direction, Arch host);

// Returns the same line, or "" if the direction is not known.
std::string direction_line(const std::optional<Direction>& direction, Arch host);

// Returns the line, then the witness: "LOOSER: socket newly allowed; ERRNO(1 EPERM) became ALLOW
// for ...".
std::string directed(const std::string& line, const Witness& witness);

nlohmann::ordered_json to_json(const Direction& direction, Arch host);

}  // namespace secequiv
