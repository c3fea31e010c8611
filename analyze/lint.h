// Finds rules of a policy that could be removed, and rules that are probably mistakes. Owns the
// meaning of "unmatchable", "shadowed" and "redundant" (proven for all inputs), and of "duplicate"
// and "inconsistent" (visible in the form of the rules). It must not know files.
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
  std::string file;                       // file of the policy; may be empty
  bool strict = false;                    // whether warnings are failures
  dd::Limits limits = {};                 // `seconds` is for all proofs together
  std::vector<UnknownName> unknown = {};  // names in the policy that no architecture has
};

// Returns the report. Errors: kBudget if the limits are reached.
Result<LintReport> lint(const LintJob& job);

// Returns the rules and parts of rules that could be removed. Each can be removed alone, but not
// necessarily together with others. The list omits parts of a listed rule, and parts that only a
// later duplicate makes redundant. An any_of directly within an any_of counts as part of it; the
// same holds for all_of. Errors: kBudget.
Result<std::vector<RedundantRule>> redundant_rules(const Policy& policy, const dd::Limits& limits);

// Returns the doubtful rules, sorted by rule set, system call, then field. A matcher other than
// `any` checks its field, even if it is always true. An alternative that checks nothing is not
// compared with the others.
std::vector<DoubtfulRule> doubtful_rules(const Policy& policy);

}  // namespace secequiv
