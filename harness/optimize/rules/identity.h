// Numbers for rules, equal for rules that are visibly the same, so that no pairs need comparing.
// Owns what "the same" means: conditions are sets, so order, repetition, nesting within the same
// kind, and whether fields stand in one args or in an all_of do not count. It must not know any
// pass.
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

  // The number of match-all or args. Rules that are seen earlier have smaller numbers.
  Id of_leaf(const Rule& rule);
  // The number of any_of or all_of, from its children's numbers; at least one.
  Id of_branching(Rule::Kind kind, const std::vector<Id>& children);

  // The conditions whose conjunction is `id`, in the order of first sight: none for match-all, the
  // children of all_of, otherwise `id` alone.
  [[nodiscard]] std::vector<Id> conjuncts(Id id) const;

  // A rule with this number, without nesting within the same kind, one field in each args.
  [[nodiscard]] Rule rule(Id id) const;

 private:
  static constexpr Id kMatchAll = 0;

  struct Node {
    Rule::Kind kind = Rule::Kind::kMatchAll;
    std::size_t field = 0;  // kArgs
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
  std::map<std::vector<Id>, Id> any_of_;  // by the sorted children
  std::map<std::vector<Id>, Id> all_of_;
};

}  // namespace secequiv::detail
