// The named 32-bit values of a policy. Owns finding the variables that its rules use, and replacing
// their values. It must not know how compilers treat them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "harness/policy/policy.h"

namespace secequiv {

using VariableValues = std::span<const std::pair<std::string, std::uint32_t>>;

// Returns the names that matchers of `policy` use, including names that the policy does not
// declare.
std::set<std::string> used_variables(const Policy& policy);

// Returns `policy` with new values for some of its variables, in Policy::variables and in every
// matcher that names one.
Policy with_values(const Policy& policy, VariableValues values);

}  // namespace secequiv
