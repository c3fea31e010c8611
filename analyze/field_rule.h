// Describes a set of values of one 64-bit field with the matchers of policies. Owns the search for
// a short description. It must not know diagrams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv {

// The values v for which (v & mask) == value.
struct FieldCube {
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

// Returns a rule that holds for all values in the cubes of `inside` and for none in those of
// `outside`. For the remaining values it may do either. Preconditions: cubes do not overlap, and
// neither list is empty.
Rule field_rule(std::size_t field, std::span<const FieldCube> inside,
                std::span<const FieldCube> outside);

// Returns how hard the rule is to read: a number that grows with its tests. Equal numbers count
// less than masks.
std::size_t effort_to_read(const Rule& rule);

// Return rules that hold if all of `rules` hold, or at least one of them. Conditions on different
// fields become one rule. Precondition: `rules` is not empty.
Rule compact_all_of(std::vector<Rule> rules);
Rule compact_any_of(std::vector<Rule> rules);

}  // namespace secequiv
