// What importers of text share: rules put together, and per system call a list of them, each with
// an action, of which the first that matches decides. Owns how such lists become rule sets. It must
// not know any format.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv {

// One test of one field.
Rule test_of(std::size_t field, const Matcher& matcher);
Rule all_of(std::vector<Rule> children);  // of none: always
Rule any_of(std::vector<Rule> children);  // not empty
// (field & mask) != value; of the low half only, if that is said.
Rule masked_ne(std::size_t field, std::uint64_t mask, std::uint64_t value, bool low_half);

class RuleList {
 public:
  // Behind what was added for this system call; without effect behind a rule that always matches.
  void add(Arch arch, std::uint32_t nr, Rule rule, std::uint32_t action);

  // As few rule sets as keep the order within each system call.
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
