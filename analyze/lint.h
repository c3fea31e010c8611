// Rules of a policy that decide nothing, and rules that may not mean what they say. Owns what
// "shadowed", "redundant" and "duplicate" mean (proven over all inputs, or plain to see) and what
// "inconsistent" does, which is a matter of form alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"
#include "verify/dd/space.h"

namespace secequiv {

// Which child of any_of and all_of, each from 0, from the outside in; empty: the whole rule.
using RulePart = std::vector<std::size_t>;

struct IdleRule {
  enum class Kind : std::uint8_t {
    kUnmatchable,  // it matches no input
    kShadowed,     // what it matches, rule sets before it have decided
    kRedundant,    // without it the policy decides the same
    kDuplicate,    // so it does, because the same stands before it
  };
  Kind kind;
  std::size_t rule_set;
  Arch arch;
  std::uint32_t nr;
  RulePart part;
  std::vector<RulePart> originals;  // of kDuplicate: what it repeats
};

// One by one: each could be left out, not necessarily several at once. Parts of a rule that is
// listed are not, nor what is idle only because a duplicate behind it says the same. An any_of
// directly within an any_of counts as one with it, and all_of likewise. Errors: kBudget if the
// limits are reached; their seconds are for all of it.
Result<std::vector<IdleRule>> idle_rules(const Policy& policy, const dd::Limits& limits);

// A rule whose alternatives do not look at the same things. A matcher other than `any` looks at its
// field, even one that is always true.
struct DoubtfulRule {
  enum class Kind : std::uint8_t {
    kInconsistent,  // some alternatives check `field`, others do not
    kMatchAll,      // an alternative checks nothing, so that the others do not matter
  };
  Kind kind;
  std::size_t rule_set;
  Arch arch;
  std::uint32_t nr;
  int field;                        // of kInconsistent: 0..5 or kIpField
  RulePart checked;                 // of kInconsistent: the first alternative that checks it
  std::vector<RulePart> unchecked;  // the alternatives that do not, or check nothing
};

// "unmatchable", "match_all": the words of reports.
std::string_view lint_name(IdleRule::Kind kind);
std::string_view lint_name(DoubtfulRule::Kind kind);

// By rule set, system call, then field. An alternative that checks nothing is not compared with the
// others.
std::vector<DoubtfulRule> doubtful_rules(const Policy& policy);

}  // namespace secequiv
