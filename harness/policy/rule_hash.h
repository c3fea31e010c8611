// Owns hashes of rules: equal rules have equal hashes. It must not know what rules mean.
#pragma once

#include <cstddef>

#include "harness/policy/policy.h"

namespace secequiv {

std::size_t hash_of(const Matcher& matcher);
std::size_t hash_of(const Rule& rule);

}  // namespace secequiv
