// Which rule of a policy decides about the inputs of a region, and whether it is the same one for
// all of them: other inputs may have another rule with the same action. Owns that question.
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

  // Beyond the limits, `always` is false.
  RegionRule of(const Region& region);

 private:
  dd::NodeId set_of(const Region& region);

  const Policy& policy_;
  ProgramView programs_[1];
  dd::Space space_;
};

}  // namespace secequiv
