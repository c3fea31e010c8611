// Which rule of a policy decided, in words and as a position in the user's file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/policy/policy.h"

namespace secequiv {

// The rule that decided. Its position is that of the part that matches: of the alternative, where
// alternatives have positions of their own.
struct DecidingRule {
  // "rule set 2 of 5 (ALLOW), ioctl on x86_64, branch 3 of 7", or which of the policy's other
  // actions it was; empty: no policy.
  std::string text = {};
  PositionRef position = {};  // empty unless a rule from a file matches

  // For people: the position, or the text without one.
  [[nodiscard]] std::string shown() const {
    return position.at != nullptr ? position.at->text() : text;
  }
};
DecidingRule deciding_rule(const Policy& policy, const SeccompData& data);

// Why the policy decides so, in a few words: the position of the rule, "no rule for clone3", "no
// rule for socket matches", "the policy does not name arm".
std::string reason(const Policy& policy, const SeccompData& data);

// {"file", "line", "path", "condition"}; the last two only if there are any.
nlohmann::ordered_json to_json(const RulePosition& position);

}  // namespace secequiv
