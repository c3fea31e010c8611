// Joins findings that differ only in the architecture. Owns this grouping, because reports show one
// row for them. It must not know any report.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/seccomp/arch.h"

namespace secequiv {

template <class Item>
struct Alike {
  const Item* first;
  std::vector<std::string_view> arches;

  // Returns "x86_64,i386".
  [[nodiscard]] std::string names() const { return fmt::format("{}", fmt::join(arches, ",")); }
};

// Returns one element for all items with the same key, in the order of the first ones. `key(item)`
// returns a text without the architecture, `arch(item)` the architecture. The items must outlive
// the result.
template <class Item, class Key, class ArchOf>
std::vector<Alike<Item>> alike_on_arches(const std::vector<Item>& items, const Key& key,
                                         const ArchOf& arch) {
  std::vector<Alike<Item>> out;
  std::map<std::string, std::size_t> known;  // positions in `out`
  for (const Item& item : items) {
    const auto [at, is_new] = known.emplace(key(item), out.size());
    if (is_new) out.push_back({&item, {}});
    out[at->second].arches.push_back(arch_info(arch(item)).name);
  }
  return out;
}

}  // namespace secequiv
