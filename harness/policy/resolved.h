// Policies as compilers under test get them (harness/adapter/PROTOCOL.md): our JSON with numbers in
// place of names and without variables. It must not know who compiles them.
#pragma once

#include <string>

#include "harness/policy/policy.h"

namespace secequiv {

// read_policy reads it as the same policy, whose variables became numbers.
std::string write_resolved(const Policy& policy);

}  // namespace secequiv
