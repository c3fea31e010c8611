// Owns the decisions on calls that differ from a given one in some fields only, and the fewest
// fields that change a decision.
#pragma once

#include <vector>

#include "harness/compare/difference.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

struct Decided {
  ReturnValue value;
  RegionList where;  // conditions on the free fields
};

// A bit for each argument, and for the instruction pointer (kIpField).
using Fields = std::uint32_t;
inline constexpr Fields kAllArguments = 0x3f;

// Returns what is decided if the fields of `free` take any value and all else is as in `data`, the
// loosest decision first. Each `where` holds at most `most` regions. Meaningless if the space is
// exhausted.
std::vector<Decided> decided(Space& space, const Decisions& decisions, const SeccompData& data,
                             Fields free, std::size_t most);

// Returns the decisions other than that on `data` that the fewest changed fields lead to: one field
// if that is enough, then two, and so on. Empty if none lead to another one.
std::vector<Decided> nearest(Space& space, const Decisions& decisions, const SeccompData& data,
                             std::size_t most);

}  // namespace secequiv::dd
