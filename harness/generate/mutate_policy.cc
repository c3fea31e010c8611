#include "harness/generate/mutate.h"
#include "harness/generate/policy.h"
#include "harness/generate/policy_tree.h"
#include "harness/policy/json.h"

namespace secequiv {
namespace {

using detail::Repair;
using detail::Tree;
using detail::TreePath;

std::uint64_t low_half(std::uint64_t v) { return v & 0xffffffff; }

// Returns the role of a node in the policy: the nearest key above it, and the distance to that key.
std::pair<std::string, int> kind_of(TreePath path) {
  int distance = 0;
  while (path.back() < "a" || path.back().find(':') != std::string::npos) {
    path.pop_back();
    ++distance;
  }
  return {path.back(), distance};
}

class PolicyMutator {
 public:
  PolicyMutator(Random& random, const Tree& tree)
      : random_(random), before_(tree), tree_(tree), path_(any_node(tree)) {}

  // Makes one change. Returns std::nullopt if nothing changed or if the result is not a policy.
  std::optional<Policy> change() {
    Repair repair = path_.to_string().starts_with("/arches") ? Repair::kDelete : Repair::kNone;
    switch (random_.below(tree_.at(path_).is_structured() ? 6 : 8)) {
      case 0:
        detail::erase_node(tree_, path_);
        repair = Repair::kDelete;
        break;
      case 1:
        take(policy_tree(generate_policy(random_)));
        break;
      case 2:
        take(tree_);
        break;
      case 3:
        repeat();
        break;
      case 4:
        nest();
        break;
      case 5:
        if (parent().is_object()) detail::rename(tree_, path_, near_word(path_.back()));
        break;
      default:
        change_leaf();
    }
    if (tree_ == before_) return std::nullopt;
    return detail::read_tree(std::move(tree_), repair);
  }

 private:
  // Descends from the root. A uniform choice among all nodes of a large policy would rarely find
  // one of the few near the root.
  TreePath any_node(const Tree& tree) {
    TreePath path;
    const Tree* node = &tree;
    while (!node->empty() && node->is_structured() && (path.empty() || !random_.one_in(5))) {
      const std::size_t index = random_.below(node->size());
      const auto part = std::next(node->begin(), static_cast<std::ptrdiff_t>(index));
      path.push_back(node->is_array() ? std::to_string(index) : part.key());
      node = &*part;
    }
    return path;
  }
  Tree& parent() { return tree_.at(path_.parent_pointer()); }

  std::uint64_t near(std::uint64_t v) {
    switch (random_.below(6)) {
      case 0:
        return v + 1;
      case 1:
        return v - 1;
      case 2:
        return v ^ std::uint64_t{1} << random_.below(32);
      case 3:
        return v ^ std::uint64_t{1} << random_.below(64);
      case 4:
        return v << 32 | v >> 32;
      default:
        return random_.one_in(2) ? 0 : ~v;
    }
  }

  // Returns another call, field, operator or architecture.
  std::string near_word(const std::string& word) {
    if (const auto nr = detail::call_number(word))
      return word.substr(0, word.find(':') + 1) + std::to_string(low_half(near(*nr)));
    const auto others = detail::alternatives_to(word);
    return others.empty() ? word : random_.pick(others);
  }

  // Puts a node of the same kind from `from` in place of the chosen node or beside it.
  void take(const Tree& from) {
    const auto kind = kind_of(path_);
    TreePath other = any_node(from);
    for (int tries = 0; kind_of(other) != kind; ++tries) {
      if (tries == 20) return;
      other = any_node(from);
    }
    Tree taken = from.at(other);
    if (random_.one_in(2)) {
      tree_.at(path_) = std::move(taken);
    } else if (parent().is_array()) {
      parent().push_back(std::move(taken));
    } else {
      parent()[other.back()] = std::move(taken);
    }
  }

  void repeat() {
    Tree copy = tree_.at(path_);
    if (parent().is_array()) {
      const std::size_t at = random_.below(parent().size() + 1);
      parent().insert(parent().begin() + static_cast<std::ptrdiff_t>(at), std::move(copy));
    } else {
      parent()[near_word(path_.back())] = std::move(copy);
    }
  }

  // Puts the node twice into a new list of alternatives or conditions.
  void nest() {
    Tree& node = tree_.at(path_);
    node = {{random_.one_in(2) ? "any_of" : "all_of", Tree::array({node, node})}};
  }

  void change_leaf() {
    Tree& leaf = tree_.at(path_);
    if (leaf.is_boolean()) {
      leaf = !leaf.get<bool>();
    } else if (leaf.is_string()) {
      leaf = near_word(leaf.get<std::string>());
    } else if (leaf.is_number()) {
      const std::uint64_t v = near(leaf.get<std::uint64_t>());
      leaf = path_.back().ends_with("action") || parent().contains("bits") ? low_half(v) : v;
    }
  }

  Random& random_;
  const Tree& before_;
  Tree tree_;
  TreePath path_;
};

}  // namespace

Policy mutate_policy(Random& random, const Policy& policy) {
  Tree tree = policy_tree(policy);
  std::optional<Policy> out;
  std::size_t wanted = random.between(1, 3);
  for (int tries = 0; wanted > 0 && tries < 32; ++tries) {
    auto changed = PolicyMutator(random, tree).change();
    if (!changed || *changed == (out ? *out : policy)) continue;
    out = std::move(changed);
    if (--wanted > 0) tree = policy_tree(*out);
  }
  if (!out) out = detail::read_tree(std::move(tree), Repair::kNone);
  return out.value_or(policy);
}

}  // namespace secequiv
