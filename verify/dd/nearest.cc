#include "verify/dd/nearest.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "harness/seccomp/arch.h"
#include "verify/dd/regions.h"

namespace secequiv::dd {
namespace {

constexpr int kFields = kIpField + 1;

NodeId restricted(Space& space, NodeId root, const SeccompData& data, Fields free) {
  std::uint32_t words = 0;
  for (int field = 0; field < kFields; ++field)
    if ((free >> field & 1) != 0)
      for (const bool high : {false, true})
        words |= 1U << half_word(field, high, endian_of(data.arch()));
  for (std::uint32_t word = 0; word < data.words.size(); ++word)
    if ((words >> word & 1) == 0) root = space.fix(root, word, data.words[word]);
  return root;
}

// Sorts the loosest decision first. A decision whose action is computed comes before all others,
// because it may be the loosest. Equal decisions keep their order.
void sort(std::vector<Decided>& found) {
  std::multimap<std::int32_t, Decided, std::greater<>> by_action;
  for (Decided& one : found) {
    const auto action = one.value.action;
    by_action.emplace(action ? precedence(*action) : std::numeric_limits<std::int32_t>::max(),
                      std::move(one));
  }
  found.clear();
  for (auto& [action, one] : by_action) found.push_back(std::move(one));
}

void leaves(const Diagrams& diagrams, NodeId id, std::set<NodeId>& seen, std::set<NodeId>& out) {
  if (diagrams.is_leaf(id)) {
    out.insert(id);
    return;
  }
  if (!seen.insert(id).second) return;
  leaves(diagrams, diagrams.node(id).hit, seen, out);
  leaves(diagrams, diagrams.node(id).miss, seen, out);
}

}  // namespace

std::vector<Decided> decided(Space& space, const Decisions& decisions, const SeccompData& data,
                             Fields free, std::size_t most) {
  const NodeId function = restricted(space, decisions.root, data, free);
  std::set<NodeId> seen;
  std::set<NodeId> found;
  leaves(space.diagrams(), function, seen, found);
  std::map<ReturnValue, NodeId> sets;
  for (const NodeId leaf : found) {
    const NodeId set = space.diagrams().substitute(
        function, [&](NodeId id) { return id == leaf ? Diagrams::kOne : Diagrams::kZero; });
    // Several computed values may have the same ReturnValue. Then their sets are joined.
    const auto [at, added] = sets.emplace(space.known(leaf), set);
    if (!added) at->second = space.diagrams().either(at->second, set);
  }
  std::vector<Decided> out;
  if (space.exhausted()) return out;
  for (const auto& [value, set] : sets) out.push_back({value, Regions(space).list(set, most)});
  sort(out);
  return out;
}

std::vector<Decided> nearest(Space& space, const Decisions& decisions, const SeccompData& data,
                             std::size_t most) {
  const Decisions call{restricted(space, decisions.root, data, (1U << kFields) - 1),
                       decisions.computed};
  const NodeId own = restricted(space, call.root, data, 0);
  if (space.exhausted() || call.root == own) return {};
  const ReturnValue value = space.known(own);
  for (int count = 1; count <= kFields; ++count) {
    std::vector<Decided> out;
    for (Fields free = 1; free < 1U << kFields; ++free) {
      if (std::popcount(free) != count) continue;
      auto found = decided(space, call, data, free, most);
      if (space.exhausted()) return {};
      std::ranges::copy_if(found, std::back_inserter(out),
                           [&](const Decided& one) { return one.value != value; });
    }
    if (out.empty()) continue;
    sort(out);
    return out;
  }
  return {};
}

}  // namespace secequiv::dd
