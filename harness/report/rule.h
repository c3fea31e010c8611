// Reports which rule of a policy decided, in words and as a position in the user's file. Owns the
// wording. It must not know formats of policies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/import/oci_loading.h"
#include "harness/policy/policy.h"
#include "harness/report/describe.h"

namespace secequiv {

// The rule that decided, or the default action. If the alternatives of a rule have their own
// positions, the position is that of the matching alternative. For a program, it is the instruction
// that returned.
struct DecidingRule {
  // The rule, such as "rule set 2 of 5 (ALLOW), ioctl on x86_64, branch 3 of 7". If no rule
  // decided, the text names the action that applied instead, such as the default action. Empty:
  // there is no policy.
  std::string text = {};
  PositionRef position = {};  // set if it was read from a file whose lines are known
  bool by_default = false;    // no rule matches
  // The other rules with the same action for the same call: they decide for other arguments, or
  // would decide without this rule.
  std::vector<PositionRef> others = {};

  // Returns the position or, if there is none, the text; for people.
  [[nodiscard]] std::string shown() const {
    return position.at != nullptr ? position.at->text() : text;
  }
};
// The rules of both sides for one input; a side without a policy has none.
struct DecidingRules {
  DecidingRule before = {};
  DecidingRule after = {};
};
DecidingRule deciding_rule(const Policy& policy, const SeccompData& data);

// The rule that decides the inputs of a region.
struct RegionRule {
  DecidingRule rule = {};  // decides the region's example
  bool always = false;     // whether it decides all other inputs of the region, too

  [[nodiscard]] std::string shown() const {
    return always ? rule.shown() : "for example " + rule.shown();
  }
};

// Returns the reason for the decision in a few words: the position of the rule, "no rule for
// clone3", "no rule for socket matches", "the policy does not name arm".
std::string reason(const Policy& policy, const SeccompData& data);

// Returns the position, if it is known.
std::optional<RulePosition> known(const PositionRef& position);

// Returns an object with "file", "line" and, if they are not empty, "path" and "condition".
void describe(Fields<RulePosition>& position);

// Returns an object with "runtimes", "reason", "origin" and "text".
void describe(Fields<LoadFailure>& failure);

// Returns "p.json:9 (syscalls[2]), p.json:12 (syscalls[3]) and 3 more".
std::string positions_text(const std::vector<PositionRef>& positions);

}  // namespace secequiv
