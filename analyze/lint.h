// Finds rules of a policy that could be removed, and rules that are probably mistakes. Owns the
// meaning of "unmatchable", "shadowed", "redundant", "always_true" and "never_true" (proven for all
// inputs), and of "duplicate" and "inconsistent" (visible in the form of the rules). It must not
// know files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/import/import.h"
#include "harness/policy/policy.h"
#include "harness/report/lint.h"
#include "verify/dd/space.h"

namespace secequiv {

struct LintJob {
  Import imported;
  std::string name;
  std::string file;                      // file of the policy; may be empty
  bool strict = false;                   // whether warnings are failures
  dd::Limits limits = {};                // `seconds` limits all proofs together
  std::optional<ReadFor> read_for = {};  // for the report
};

// Returns the report. Errors: kBudget if the limits are reached.
Result<LintReport> lint(const LintJob& job);

// Returns the rules and parts of rules that could be removed, in the order of the file. Each can be
// removed alone, but not necessarily together with others. The list omits parts of a listed rule,
// and parts that only a later duplicate makes redundant. An any_of directly within an any_of counts
// as part of the outer one, and likewise an all_of within an all_of. Each set of `idle` is examined
// as if it stood after the policy's rule sets. Errors: kBudget.
Result<std::vector<RedundantRule>> redundant_rules(const Policy& policy, const dd::Limits& limits,
                                                   std::span<const RuleSet> idle = {});

// Returns the doubtful rules, sorted by rule set, system call, then field. A matcher other than
// `any` checks its field, even if it is always true. An alternative that checks nothing is not
// compared with the others.
std::vector<DoubtfulRule> doubtful_rules(const Policy& policy);

// Returns the conditions that every value of their field satisfies, the conditions that no value
// satisfies, and the alternatives whose conditions together admit every value. In our own format,
// {"ge": 0} states that any value is meant. Errors: kBudget.
Result<std::vector<DoubtfulRule>> trivial_conditions(const Policy& policy, PolicyFormat format,
                                                     const dd::Limits& limits);

}  // namespace secequiv
