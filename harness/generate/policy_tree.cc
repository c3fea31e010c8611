#include "harness/generate/policy_tree.h"

#include <algorithm>
#include <array>

#include "harness/base/text.h"
#include "harness/policy/json.h"

namespace secequiv::detail {
namespace {

void add_nodes(const Tree& node, const TreePath& path, std::vector<TreePath>& out) {
  if (node.is_array()) {
    for (std::size_t i = 0; i < node.size(); ++i) add_nodes(node[i], path / i, out);
  } else if (node.is_object()) {
    for (const auto& item : node.items()) add_nodes(item.value(), path / item.key(), out);
  }
  if (!path.empty()) out.push_back(path);
}

}  // namespace

std::vector<TreePath> nodes_of(const Tree& tree) {
  std::vector<TreePath> out;
  add_nodes(tree, TreePath(), out);
  return out;
}

std::span<const std::string> alternatives_to(std::string_view word) {
  static const std::array<std::vector<std::string>, 4> kGroups = {{
      {"any_of", "all_of"},
      {"0", "1", "2", "3", "4", "5", "ip"},
      {"eq", "ne", "gt", "lt", "ge", "le", "masked_eq", "bits_allowlist", "non_negative_fd"},
      [] {
        std::vector<std::string> arches;
        for (const ArchInfo& info : all_arches()) arches.emplace_back(info.name);
        return arches;
      }(),
  }};
  for (const auto& group : kGroups)
    if (std::ranges::find(group, word) != group.end()) return group;
  return {};
}

std::optional<std::uint32_t> call_number(std::string_view key) {
  const std::size_t colon = key.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = parse_unsigned(key.substr(colon + 1));
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

bool rename(Tree& tree, const TreePath& path, const std::string& key) {
  Tree& parent = tree.at(path.parent_pointer());
  if (parent.contains(key)) return false;
  Tree value = parent.at(path.back());
  if (path.back() == "masked_eq") value = Tree(value.at("value"));
  if (path.back() == "non_negative_fd") value = 0;
  if (key == "masked_eq") value = {{"mask", value}, {"value", value}};
  if (key == "non_negative_fd") value = true;
  parent.erase(path.back());
  parent[key] = std::move(value);
  return true;
}

void erase_parts(Tree& parts, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t index) {
    return std::next(parts.begin(), static_cast<std::ptrdiff_t>(index));
  };
  parts.erase(at(begin), at(std::min(end, parts.size())));
}

void erase_node(Tree& tree, const TreePath& path) {
  Tree& parent = tree.at(path.parent_pointer());
  if (parent.is_array()) {
    parent.erase(*parse_unsigned(path.back()));
  } else {
    parent.erase(path.back());
  }
}

std::optional<Policy> read_tree(Tree tree, Repair repair) {
  for (;;) {
    auto policy = read_policy_tree(tree, "");
    if (policy) return std::move(*policy);
    const std::string& where = policy.error().where;  // "#/json/pointer", or "#/" for the root
    if (repair == Repair::kNone || where.size() <= 2) return std::nullopt;
    erase_node(tree, TreePath(where.substr(1)));
  }
}

}  // namespace secequiv::detail
