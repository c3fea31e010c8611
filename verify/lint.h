// Rules of a policy that decide nothing. Owns what "shadowed" and "redundant" mean: both are proven
// over all inputs.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"
#include "verify/dd/space.h"

namespace secequiv {

struct IdleRule {
  enum class Kind : std::uint8_t {
    kUnmatchable,  // it matches no input
    kShadowed,     // what it matches, rule sets before it have decided
    kRedundant,    // without it the policy decides the same
  };
  Kind kind;
  std::size_t rule_set;
  Arch arch;
  std::uint32_t nr;
  std::vector<std::size_t> branches;  // of any_of and all_of from the outside in; empty: all of it
};

// One by one: each could be left out, not necessarily several at once. Parts of a rule that is
// listed are not. Errors: kBudget if the limits are reached.
Result<std::vector<IdleRule>> idle_rules(const Policy& policy, const dd::Limits& limits);

}  // namespace secequiv
