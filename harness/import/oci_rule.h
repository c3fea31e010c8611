// Converts the conditions of an entry in a container profile. Owns what these conditions mean to
// libseccomp on one architecture. It must not know profiles (import_oci.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "harness/policy/policy.h"

namespace secequiv {

// Returns the rule as libseccomp reads it on `arch`: on 32-bit ABIs it compares only the low halves
// of arguments.
Rule oci_rule_on(Arch arch, Rule rule);

// Returns whether the rule tests no bit, for example because its only masks are 0. libseccomp
// treats such a rule as one without conditions.
bool always_holds(const Rule& rule);

// The value that a rule requires of each argument, if it requires one.
using RequiredValues =
    std::array<std::optional<std::uint64_t>, std::tuple_size_v<decltype(Rule::fields)>>;
RequiredValues required_values(const Rule& rule);

// Returns whether `a` and `b` require different values of the same argument.
bool exclude_each_other(const RequiredValues& a, const RequiredValues& b);

}  // namespace secequiv
