#include "verify/dd/moved.h"

#include <unordered_set>

namespace secequiv::dd {
namespace {

void find_tested(const Space& space, NodeId id, std::unordered_set<NodeId>& seen,
                 std::uint32_t& out) {
  const Diagrams& diagrams = space.diagrams();
  if (diagrams.is_leaf(id) || !seen.insert(id).second) return;
  const Node& node = diagrams.node(id);
  for (std::uint32_t i = 0; i < node.length; ++i) out |= 1U << space.order().word(node.level + i);
  find_tested(space, node.hit, seen, out);
  find_tested(space, node.miss, seen, out);
}

// The moved nodes are no longer in order, so choose() puts them in order, one test after another.
class Mover {
 public:
  Mover(Space& space, const WordMap& to) : space_(space), to_(to) {}

  NodeId move(NodeId id) {
    Diagrams& diagrams = space_.diagrams();
    if (diagrams.is_leaf(id) || !diagrams.step()) return id;
    if (const auto known = done_.find(id); known != done_.end()) return known->second;
    const Node node = diagrams.node(id);
    const NodeId hit = move(node.hit);
    const NodeId miss = move(node.miss);
    const NodeId out = diagrams.choose(condition(node), hit, miss);
    done_.emplace(id, out);
    return out;
  }

 private:
  // Returns the set of inputs whose moved bits agree with the node's pattern.
  NodeId condition(const Node& node) {
    Diagrams& diagrams = space_.diagrams();
    const Order& order = space_.order();
    NodeId out = Diagrams::kOne;
    for (std::uint32_t i = 0; i < node.length; ++i) {
      const std::uint32_t level = node.level + i;
      const NodeId bit = diagrams.literal(order.level(to_[order.word(level)], order.bit(level)));
      const bool expected = (node.pattern >> (node.length - 1 - i) & 1) != 0;
      out = diagrams.both(out, expected ? bit : diagrams.negate(bit));
    }
    return out;
  }

  Space& space_;
  const WordMap& to_;
  std::unordered_map<NodeId, NodeId> done_;
};

}  // namespace

std::uint32_t tested_words(const Space& space, NodeId function) {
  std::unordered_set<NodeId> seen;
  std::uint32_t out = 0;
  find_tested(space, function, seen, out);
  return out;
}

NodeId for_some(Space& space, NodeId set, const Diagrams::Levels& bits) {
  return space.diagrams().fold(set, bits,
                               [](NodeId a, NodeId b) { return a == Diagrams::kZero ? b : a; });
}

NodeId for_some(Space& space, NodeId set, std::uint32_t words) {
  std::array<std::uint32_t, SeccompData::kWords> bits{};
  for (std::uint32_t word = 0; word < bits.size(); ++word)
    if ((words >> word & 1) != 0) bits[word] = ~0U;
  return for_some(space, set, space.levels(bits));
}

NodeId moved(Space& space, NodeId set, const WordMap& to) {
  const std::uint32_t tested = tested_words(space, set);
  bool changes = false;
  for (std::uint32_t word = 0; word < to.size(); ++word)
    changes |= (tested >> word & 1) != 0 && to[word] != word;
  return changes ? Mover(space, to).move(set) : set;
}

}  // namespace secequiv::dd
