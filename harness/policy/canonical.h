// The one way in which our JSON (json.h) says a policy. Owns what is left of fields that mean
// nothing there, and which policies it cannot say. It must not know JSON.
#pragma once

#include <optional>

#include "harness/policy/policy.h"

namespace secequiv {

// What read_policy makes of write_policy's text, found some fifty times faster. Nothing if it would
// refuse that, or where the text would say less than the policy: a call or variable twice, a call
// on an architecture that is not listed. Precondition: names are UTF-8.
std::optional<Policy> canonical(Policy policy);

}  // namespace secequiv
