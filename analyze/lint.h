// Finds rules of a policy that could be removed, and rules that are probably mistakes. Owns what
// "shadowed", "redundant" and "duplicate" mean (proven for all inputs, or plain to see) and what
// "inconsistent" means, which is a matter of form alone.
#pragma once

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/import/import.h"
#include "harness/policy/policy.h"
#include "harness/report/lint.h"
#include "verify/dd/space.h"

namespace secequiv {

struct LintJob {
  Policy policy;
  std::string name;
  std::string file;                       // that it was read from; may be empty
  bool strict = false;                    // warnings count
  dd::Limits limits = {};                 // their seconds are for all proofs together
  std::vector<UnknownName> unknown = {};  // names in the policy that no architecture has
};

// Errors: kBudget if the limits are reached.
Result<LintReport> lint(const LintJob& job);

// Each could be removed alone, not necessarily several at once. Parts of a listed rule are not
// listed. A part that only a later duplicate makes redundant is not listed either. An any_of
// directly within an any_of is treated as part of it; the same holds for all_of. Errors: kBudget.
Result<std::vector<RedundantRule>> redundant_rules(const Policy& policy, const dd::Limits& limits);

// By rule set, system call, then field. A matcher other than `any` checks its field, even one that
// is always true. An alternative that checks nothing is not compared with the others.
std::vector<DoubtfulRule> doubtful_rules(const Policy& policy);

}  // namespace secequiv
