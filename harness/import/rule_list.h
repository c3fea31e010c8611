// Helpers of the text importers: they combine rules, and collect lists of rules with actions where
// the first match decides. Owns how such lists become rule sets. It must not know any format.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv {

// Returns a rule with one test of one field.
Rule test_of(std::size_t field, const Matcher& matcher);
Rule all_of(std::vector<Rule> children);  // always matches if empty
Rule any_of(std::vector<Rule> children);  // children must not be empty
// Returns the rule (field & mask) != value. With `low_half` it tests only the low half.
Rule masked_ne(std::size_t field, std::uint64_t mask, std::uint64_t value, bool low_half);

class RuleList {
 public:
  // Appends a rule for this system call. It has no effect after a rule that always matches.
  void add(Arch arch, std::uint32_t nr, Rule rule, std::uint32_t action);

  // Returns rule sets that keep the order of rules within each system call. Chooses the order of
  // the rule sets greedily, so that there are few sets.
  [[nodiscard]] std::vector<RuleSet> rule_sets() &&;

 private:
  using Call = std::pair<Arch, std::uint32_t>;
  struct Entry {
    std::uint32_t action = 0;
    std::vector<Rule> alternatives;
  };
  std::map<Call, std::vector<Entry>> calls_;
};

}  // namespace secequiv
