// The named 32-bit values of a policy. Owns which of them its rules use, and giving them other
// values. It must not know what compilers make of them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "harness/policy/policy.h"

namespace secequiv {

using VariableValues = std::span<const std::pair<std::string, std::uint32_t>>;

// The names that matchers of `policy` use, whether it has such variables or not.
std::set<std::string> used_variables(const Policy& policy);

// `policy` with other values for some of its variables, in Policy::variables and in every matcher
// that names one.
Policy with_values(const Policy& policy, VariableValues values);

}  // namespace secequiv
