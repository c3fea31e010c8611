// Which rule of a policy decided, in words.
#pragma once

#include <string>

#include "harness/policy/policy.h"

namespace secequiv {

// "rule set 2 of 5 (ALLOW), ioctl on x86_64, branch 3 of 7", or which of the policy's other actions
// it was.
std::string deciding_rule(const Policy& policy, const SeccompData& data);

}  // namespace secequiv
