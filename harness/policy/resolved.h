// Policies in the form that compilers under test receive (harness/adapter/PROTOCOL.md): our JSON
// with numbers in place of names and without variables. Owns that form. It must not know which
// compiler runs.
#pragma once

#include <string>

#include "harness/policy/policy.h"

namespace secequiv {

// Writes the resolved form. read_policy() reads it as the same policy with numbers in place of
// variables.
std::string write_resolved(const Policy& policy);

}  // namespace secequiv
