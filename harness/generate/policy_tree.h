// Policies as JSON trees (policy_tree in harness/policy/json.h), for code that changes them without
// knowing each field. Owns which words may replace each other and how a tree becomes a policy
// again. It must not know why a policy is changed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/policy/policy.h"

namespace secequiv::detail {

using Tree = nlohmann::json;
using TreePath = Tree::json_pointer;

// Lists all nodes except the root. Every node comes after its children.
std::vector<TreePath> nodes_of(const Tree& tree);

// Returns the words that may replace `word`, simplest first, including `word` itself. These are
// words of the same kind: operators, groups, fields or architectures. Returns nothing for any other
// word.
std::span<const std::string> alternatives_to(std::string_view word);

// Returns the number of a key like "x86_64:2".
std::optional<std::uint32_t> call_number(std::string_view key);

// Gives the member at `path` the key `key`, and adapts its value if the new operator needs that.
// Returns false if the key exists already.
bool rename(Tree& tree, const TreePath& path, const std::string& key);

// Deletes the elements or members [begin, end) of an array or object.
void erase_parts(Tree& parts, std::size_t begin, std::size_t end);

void erase_node(Tree& tree, const TreePath& path);

enum class Repair : std::uint8_t { kNone, kDelete };

// Returns the policy that the tree describes. kDelete first deletes whatever the reader refuses,
// for example rules for an architecture that is no longer listed.
std::optional<Policy> read_tree(Tree tree, Repair repair);

}  // namespace secequiv::detail
