// Owns finding the decisions on calls that differ from a given call only in some fields, and the
// fewest fields that change a decision. It must not know policies.
#pragma once

#include <vector>

#include "harness/compare/difference.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

struct Decided {
  ReturnValue value;
  RegionList where;  // conditions on the free fields
};

// A set with a bit for each argument and for the instruction pointer (kIpField).
using Fields = std::uint32_t;
inline constexpr Fields kAllArguments = 0x3f;

// Returns all decisions on calls that agree with `data` except in the fields `free`, the most
// permissive first. Each `where` holds at most `most` regions. The result is meaningless if the
// space is exhausted.
std::vector<Decided> decided(Space& space, const Decisions& decisions, const SeccompData& data,
                             Fields free, std::size_t most);

// Returns the other decisions that can result from changing as few fields of `data` as possible. It
// tries every single field, then every pair, and so on. Returns an empty list if no change gives
// another decision.
std::vector<Decided> nearest(Space& space, const Decisions& decisions, const SeccompData& data,
                             std::size_t most);

}  // namespace secequiv::dd
