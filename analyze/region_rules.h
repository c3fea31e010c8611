// Finds the rule of a policy that decides an input of a region. Owns the check whether this rule
// decides all inputs of the region: another rule with the same action may decide some of them.
#pragma once

#include "harness/compare/difference.h"
#include "harness/policy/policy.h"
#include "harness/report/rule.h"
#include "verify/dd/space.h"

namespace secequiv {

class RegionRules {
 public:
  // `program` is compiled from `policy`. Both must outlive this object.
  RegionRules(const Policy& policy, ProgramView program, const dd::Limits& limits)
      : policy_(policy), programs_{program}, space_(programs_, limits) {}

  // If the limits are reached, `always` is false.
  RegionRule of(const Region& region);

 private:
  const Policy& policy_;
  ProgramView programs_[1];
  dd::Space space_;
};

}  // namespace secequiv
