// Turns a filter, or a stack of filters, back into a policy. Owns the search for the rules. It must
// not know files.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/source.h"
#include "harness/base/result.h"
#include "verify/dd/space.h"

namespace secequiv {

struct LiftJob {
  Stack stack;
  Arch host = Arch::kX86_64;  // the architecture of the policy if the filters test none
  dd::Limits limits = {};
};

struct Lifted {
  Policy policy;
  std::size_t instructions = 0;  // of all filters
  std::size_t calls = 0;         // entries of the policy's rule sets
  std::size_t tests = 0;         // of fields, in all entries
};

// Returns "330 instructions became 81 rules for 1 architecture, with 72 conditions".
std::string summary(const Lifted& lifted);

// Returns a policy that is proven to make the same decisions on all inputs, including the data of
// actions. Errors: kPolicy if no policy can make these decisions, with the inputs that prevent it;
// kBudget if the limits are reached; kInternal if the proof fails.
Result<Lifted> lift(const LiftJob& job);

}  // namespace secequiv
