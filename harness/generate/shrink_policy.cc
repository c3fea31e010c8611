#include <algorithm>
#include <array>
#include <bit>
#include <cctype>

#include "harness/generate/policy_tree.h"
#include "harness/generate/reduction.h"
#include "harness/generate/shrink.h"
#include "harness/policy/json.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using detail::Repair;
using detail::Tree;
using detail::TreePath;

// Simpler actions come first.
constexpr std::array kActions = {
    SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_KILL_PROCESS,
    SECCOMP_RET_TRAP,  SECCOMP_RET_LOG,   SECCOMP_RET_TRACE,       SECCOMP_RET_USER_NOTIF};

template <class Words, class Word>
std::uint64_t rank(const Words& simplest_first, const Word& word) {
  const auto at = std::ranges::find(simplest_first, word);
  return static_cast<std::uint64_t>(at - simplest_first.begin());
}

bool is_action(std::string_view key) { return key.ends_with("action"); }

// Shorter binary numbers are simpler; of equally long numbers, those with fewer 1 bits. The weight
// of a small number is the number itself.
std::uint64_t weight(std::uint64_t v) {
  if (v <= 64) return v;
  return 64 * static_cast<std::uint64_t>(std::bit_width(v)) +
         static_cast<std::uint64_t>(std::popcount(v));
}

std::uint64_t weight_of_word(std::string_view word) {
  if (word.starts_with('$')) return 1 << 20;  // any number is simpler than a variable
  if (const auto nr = detail::call_number(word)) return weight(*nr);
  return rank(detail::alternatives_to(word), word);
}

std::uint64_t weight_of(const std::string& key, const Tree& leaf) {
  if (leaf.is_string()) return weight_of_word(leaf.get<std::string>());
  if (!leaf.is_number()) return 0;
  const auto v = leaf.get<std::uint64_t>();
  if (!is_action(key)) return weight(v);
  const auto action = static_cast<std::uint32_t>(v);
  // Another action is simpler than other data, so that a failure that needs two different values
  // keeps two different actions, unless it needs the data.
  return data_of(action) * kActions.size() + rank(kActions, action_of(action));
}

// The cost of a policy is first its number of nodes, then how simple its words and numbers are.
// Every reduction lowers the cost, so shrinking ends.
struct PolicyCost {
  std::size_t nodes = 0;
  std::uint64_t rest = 0;

  friend auto operator<=>(const PolicyCost&, const PolicyCost&) = default;
};

void add(PolicyCost& cost, const std::string& key, const Tree& node) {
  ++cost.nodes;
  if (node.is_object()) {
    for (const auto& part : node.items()) {
      cost.rest += weight_of_word(part.key());
      add(cost, part.key(), part.value());
    }
  } else if (node.is_array()) {
    for (const Tree& part : node) add(cost, {}, part);
  } else {
    cost.rest += weight_of(key, node);
  }
}

PolicyCost cost_of(const Tree& tree) {
  PolicyCost out;
  add(out, {}, tree);
  return out;
}

struct PolicySubject {
  explicit PolicySubject(Policy of)
      : policy(std::move(of)),
        tree(policy_tree(policy)),
        nodes(detail::nodes_of(tree)),
        cost(cost_of(tree)) {}

  Policy policy;
  Tree tree;
  std::vector<TreePath> nodes;
  PolicyCost cost;
};

using PolicyVisit = detail::Visit<Policy>;
using PolicyReduction = detail::Reduction<PolicySubject, Policy>;

// Visits the policy that the tree describes if it is simpler than `from`.
bool offer(const PolicySubject& from, Tree tree, const PolicyVisit& visit,
           Repair repair = Repair::kNone) {
  auto policy = detail::read_tree(std::move(tree), repair);
  if (!policy) return false;
  return cost_of(policy_tree(*policy)) < from.cost && visit(*policy);
}

// Visits `from` with one node replaced.
bool offer_node(const PolicySubject& from, const TreePath& path, Tree node,
                const PolicyVisit& visit) {
  Tree tree = from.tree;
  tree.at(path) = std::move(node);
  return offer(from, std::move(tree), visit);
}

bool offer_key(const PolicySubject& from, const TreePath& path, const std::string& key,
               const PolicyVisit& visit) {
  Tree tree = from.tree;
  return detail::rename(tree, path, key) && offer(from, std::move(tree), visit);
}

// Visits `from` with `before` replaced wherever it ends a word. The failure may need the same
// architecture, call or number in two places.
bool offer_everywhere(const PolicySubject& from, const std::string& before,
                      const std::string& after, const PolicyVisit& visit) {
  std::string text = from.tree.dump(-1, ' ', false, Tree::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos; at += after.size()) {
    const std::size_t end = at + before.size();
    if (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) {
      at = end - after.size();
      continue;
    }
    text.replace(at, before.size(), after);
  }
  return offer(from, Tree::parse(text), visit);
}

template <class TryNumber>
bool simpler_actions(std::uint32_t action, const TryNumber& visit) {
  for (const std::uint32_t other : kActions)
    if (visit(other) || visit(other | data_of(action))) return true;
  return detail::simpler_numbers(
      data_of(action), [&](std::uint64_t data) { return visit(action_of(action) | data); });
}

std::size_t each_node(const PolicySubject& s) { return s.nodes.size(); }

// Divides the parts of each node into ranges of `length`. Calls `see` with the node and the index
// at which a range begins.
template <std::size_t length, class See>
void each_range(const PolicySubject& s, const See& see) {
  for (const TreePath& path : s.nodes)
    for (std::size_t begin = 0, size = s.tree.at(path).size();
         s.tree.at(path).is_structured() && begin < size; begin += length)
      see(path, begin);
  for (std::size_t begin = 0; begin < s.tree.size(); begin += length) see(TreePath(), begin);
}
template <std::size_t length>
std::size_t ranges(const PolicySubject& s) {
  std::size_t out = 0;
  each_range<length>(s, [&](const TreePath&, std::size_t) { ++out; });
  return out;
}
template <std::size_t length>
bool delete_range(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  Tree tree = from.tree;
  each_range<length>(from, [&](const TreePath& path, std::size_t begin) {
    if (place-- == 0) detail::erase_parts(tree.at(path), begin, begin + length);
  });
  return offer(from, std::move(tree), visit, Repair::kDelete);
}

// Merges an element of an array into the element before it. On conflict, the members of the earlier
// element stay.
bool merge(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  const TreePath& path = from.nodes[place];
  Tree tree = from.tree;
  Tree& parent = tree.at(path.parent_pointer());
  if (!parent.is_array() || path.back() == "0") return false;
  Tree merged = tree.at(path);
  const auto at = static_cast<std::size_t>(&tree.at(path) - &parent[0]);
  if (!merged.is_object()) return false;
  merged.merge_patch(parent[at - 1]);
  parent[at - 1] = std::move(merged);
  parent.erase(at);
  return offer(from, std::move(tree), visit);
}

// Replaces a rule by true, or by one of its alternatives or conditions.
bool simpler_rule(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  const TreePath& path = from.nodes[place];
  const Tree& node = from.tree.at(path);
  if (!node.is_object()) return false;
  if (offer_node(from, path, true, visit)) return true;
  for (const Tree& parts : node)
    for (const Tree& part : parts.is_array() ? parts : Tree::array())
      if (offer_node(from, path, part, visit)) return true;
  return false;
}

bool simpler_key(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  const TreePath& path = from.nodes[place];
  const std::string& key = path.back();
  if (!from.tree.at(path.parent_pointer()).is_object()) return false;
  for (const std::string& word : detail::alternatives_to(key)) {
    if (word == key) break;
    if (offer_key(from, path, word, visit)) return true;
  }
  const auto nr = detail::call_number(key);
  if (!nr) return false;
  return detail::simpler_numbers(*nr, [&](std::uint64_t smaller) {
    const std::string to = std::to_string(smaller);
    return offer_everywhere(from, ":" + std::to_string(*nr), ":" + to, visit) ||
           offer_key(from, path, key.substr(0, key.find(':') + 1) + to, visit);
  });
}

bool simpler_word(const PolicySubject& from, const TreePath& path, const std::string& word,
                  const PolicyVisit& visit) {
  if (word.starts_with('$'))
    return offer_node(from, path, from.tree.at("variables").at(word.substr(1)), visit);
  for (const std::string& other : detail::alternatives_to(word)) {
    if (other == word) break;
    if (offer_everywhere(from, '"' + word, '"' + other, visit)) return true;
  }
  return false;
}

bool simpler_leaf(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  const TreePath& path = from.nodes[place];
  const Tree& leaf = from.tree.at(path);
  if (leaf.is_string()) return simpler_word(from, path, leaf.get<std::string>(), visit);
  if (!leaf.is_number()) return false;
  const auto old = leaf.get<std::uint64_t>();
  const auto change = [&](std::uint64_t v) {
    return offer_everywhere(from, ":" + std::to_string(old), ":" + std::to_string(v), visit) ||
           offer_node(from, path, v, visit);
  };
  return is_action(path.back()) ? simpler_actions(static_cast<std::uint32_t>(old), change)
                                : detail::simpler_numbers(old, change);
}

// Clears the same bits in the mask and in the value of a matcher.
bool smaller_mask(const PolicySubject& from, std::size_t place, const PolicyVisit& visit) {
  const TreePath& path = from.nodes[place];
  const Tree& node = from.tree.at(path);
  if (path.back() != "masked_eq" || !node.at("value").is_number()) return false;
  const auto mask = node.at("mask").get<std::uint64_t>();
  const auto value = node.at("value").get<std::uint64_t>();
  return detail::simpler_numbers(mask, [&](std::uint64_t smaller) {
    return offer_node(from, path, {{"mask", smaller}, {"value", value & smaller}}, visit);
  });
}

constexpr std::array kPolicyReductions = {
    PolicyReduction{ranges<256>, delete_range<256>}, PolicyReduction{ranges<64>, delete_range<64>},
    PolicyReduction{ranges<16>, delete_range<16>},   PolicyReduction{ranges<4>, delete_range<4>},
    PolicyReduction{ranges<1>, delete_range<1>},     PolicyReduction{each_node, merge},
    PolicyReduction{each_node, simpler_rule},        PolicyReduction{each_node, simpler_leaf},
    PolicyReduction{each_node, smaller_mask},        PolicyReduction{each_node, simpler_key},
};

}  // namespace

ShrunkPolicy shrink(const Policy& policy, const std::function<bool(const Policy&)>& still,
                    ShrinkLimits limits) {
  auto first = detail::read_tree(policy_tree(policy), Repair::kNone);
  if (!first) return {policy, ShrinkEnd::kRefused, 0};
  return detail::shrink(std::span<const PolicyReduction>(kPolicyReductions), std::move(*first),
                        still, write_policy, limits);
}

bool any_reduction(const Policy& policy, const std::function<bool(const Policy&)>& visit) {
  return detail::any_of(std::span<const PolicyReduction>(kPolicyReductions), PolicySubject(policy),
                        visit);
}

}  // namespace secequiv
