// Hashes of rules: equal rules have equal ones.
#pragma once

#include <cstddef>

#include "harness/policy/policy.h"

namespace secequiv {

std::size_t hash_of(const Matcher& matcher);
std::size_t hash_of(const Rule& rule);

}  // namespace secequiv
