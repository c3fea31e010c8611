// Describes a set of values of one 64-bit field with the matchers of policies. Owns the search for
// a short description. It must not know diagrams.
#pragma once

#include <cstdint>
#include <span>

#include "harness/policy/policy.h"

namespace secequiv {

// The values v for which (v & mask) == value.
struct FieldCube {
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

// Returns a rule that holds if and only if the field's value lies in one of the cubes of `inside`.
// Preconditions: cubes do not overlap, and every value lies in `inside` or `outside`, neither of
// which is empty.
Rule field_rule(std::size_t field, std::span<const FieldCube> inside,
                std::span<const FieldCube> outside);

// Return rules that hold if all of `rules` hold, or at least one of them. Conditions on different
// fields become one rule. Precondition: `rules` is not empty.
Rule all_of(std::span<const Rule> rules);
Rule any_of(std::span<const Rule> rules);

}  // namespace secequiv
