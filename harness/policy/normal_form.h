// Policies in the form that compilers under test receive (harness/adapter/PROTOCOL.md): numbers
// only, and each rule as alternatives of conjunctions. Owns that form. It must not know which
// compiler runs.
#pragma once

#include <string>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Writes the normal form. Errors: kPolicy if a rule, with its nesting multiplied out, has more
// alternatives than a filter may have instructions.
Result<std::string> write_normal_form(const Policy& policy);

}  // namespace secequiv
