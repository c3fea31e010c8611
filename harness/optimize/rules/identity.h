// Numbers for rules: equal rules have the same number, so that no pass compares rules in pairs.
// Owns the definition of "equal": conditions are sets, so order, repetition, nesting within the
// same kind, and splitting an args into an all_of do not matter. It must not know any pass.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv::detail {

class Identities {
 public:
  using Id = std::uint32_t;

  // Returns the number of a match-all or args rule. Rules seen earlier have smaller numbers.
  Id of_leaf(const Rule& rule);
  // Returns the number of an any_of or all_of with these children. Precondition: at least one
  // child.
  Id of_branching(Rule::Kind kind, const std::vector<Id>& children);

  // Returns the conditions whose conjunction is `id`, in the order in which they were first seen:
  // none for match-all, the children of an all_of, otherwise `id` alone.
  [[nodiscard]] std::vector<Id> conjuncts(Id id) const;

  // Returns a rule with this number. In it, no any_of is directly inside an any_of, no all_of is
  // directly inside an all_of, and each args tests one field.
  [[nodiscard]] Rule rule(Id id) const;

 private:
  static constexpr Id kMatchAll = 0;

  struct Node {
    Rule::Kind kind = Rule::Kind::kMatchAll;
    std::size_t field = 0;  // for kArgs
    Matcher matcher;
    std::vector<Id> children;
  };
  struct MatcherKey {
    std::size_t field;
    Matcher::Op op;
    bool low_half;
    std::uint64_t value;
    std::uint64_t mask;
    std::string variable;
    friend auto operator<=>(const MatcherKey&, const MatcherKey&) = default;
  };

  Id of_matcher(std::size_t field, const Matcher& m);
  Id add(Node node);

  std::vector<Node> nodes_ = {Node{}};
  std::map<MatcherKey, Id> matchers_;
  std::map<std::vector<Id>, Id> any_of_;  // keys: the sorted numbers of the children
  std::map<std::vector<Id>, Id> all_of_;
};

// A rule and its number.
struct Identified {
  Rule rule;
  Identities::Id id = 0;
};

}  // namespace secequiv::detail
