// Makes the calls of guard's findings in the running kernel. It must not know how findings are
// found.
#pragma once

#include <vector>

#include "analyze/source.h"
#include "harness/report/guard.h"

namespace secequiv {

// Adds the kernel's answers to both inputs of each hole, or the reason for not running them.
// Errors: kInternal if the kernel contradicts a finding, or the table of the bits that it looks at.
Status try_holes(const std::vector<Source>& stack, GuardReport& report);

}  // namespace secequiv
