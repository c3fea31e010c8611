// Decision diagrams over the 512 input bits, with 32-bit values at the leaves. Owns nodes, their
// canonical form and the operations that put a test on top of two diagrams. It must not know
// instructions (engine.h) or how inputs are shown.
//
// A node tests a run of consecutive bits of one word against a pattern: `hit` if all agree, `miss`
// otherwise. Comparing a word with a constant, which is nearly all that filters do, takes one node
// instead of 32. Each function has exactly one form, nodes are hash-consed, so two diagrams are the
// same function if and only if they are the same node.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace secequiv::dd {

using NodeId = std::uint32_t;

// How a test compares (word & mask) with k.
enum class Comparison : std::uint8_t { kEq, kGt, kGe, kAnyBit };

struct Node {
  NodeId hit;
  NodeId miss;
  std::uint32_t pattern;  // the low `length` bits; the first bit tested is the highest of them. A
                          // leaf's value
  std::uint16_t level;    // of the first bit tested; kLeaf for leaves
  std::uint16_t length;   // 1..32 bits; 0 for leaves

  friend bool operator==(const Node&, const Node&) = default;
};
static_assert(sizeof(Node) == 16);

inline constexpr std::uint16_t kLeaf = 512;

// Levels are 32 * (position of the word in the order) + bit, bit 0 being the most significant.
// Which input word stands at which position is the caller's business.
class Diagrams {
 public:
  // At most `node_limit` nodes are made; after that every operation returns some node and
  // exhausted() is true.
  explicit Diagrams(std::size_t node_limit);

  [[nodiscard]] NodeId leaf(std::uint32_t value);
  // if (word at `position` & mask) TEST k then yes else no
  [[nodiscard]] NodeId test(Comparison test, std::uint32_t position, std::uint32_t mask,
                            std::uint32_t k, NodeId yes, NodeId no);

  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] bool is_leaf(NodeId id) const { return nodes_[id].level == kLeaf; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.capacity() * sizeof(Node) + table_.capacity() * sizeof(NodeId) +
           cache_.capacity() * sizeof(CacheEntry);
  }

  // The function with the bit at `level` set to `value`. Precondition: nothing above `level` is
  // tested.
  [[nodiscard]] NodeId cofactor(NodeId id, std::uint32_t level, bool value);

 private:
  struct CacheEntry {
    NodeId yes = 0;
    NodeId no = 0;
    std::uint32_t level = 0;
    std::uint32_t stamp = 0;
    NodeId result = 0;
  };
  // The comparison at hand.
  struct Query {
    Comparison test;
    std::uint32_t base;  // level of the word's first bit
    std::uint32_t mask;
    std::uint32_t k;
  };

  NodeId intern(const Node& node);
  void grow();
  Node shape(std::uint32_t level, NodeId low, NodeId high) const;
  NodeId make(std::uint32_t level, NodeId low, NodeId high);
  // if the `length` bits from `level` are `pattern` then hit else miss
  NodeId chain(std::uint32_t level, std::uint32_t length, std::uint32_t pattern, NodeId hit,
               NodeId miss);
  // The rest of `id` after the first `bits` bits of its run agreed.
  NodeId rest(NodeId id, std::uint32_t bits);
  [[nodiscard]] std::uint32_t level(NodeId id) const { return nodes_[id].level; }

  NodeId equal(std::uint32_t base, std::uint32_t bit, std::uint32_t k, NodeId yes, NodeId no);
  NodeId compare(const Query& q, std::uint32_t bit, NodeId yes, NodeId no);
  NodeId above(const Query& q, NodeId yes, NodeId no);
  NodeId at_word(const Query& q, NodeId yes, NodeId no);
  std::optional<NodeId> cached(NodeId yes, NodeId no, std::uint32_t level);
  void remember(NodeId yes, NodeId no, std::uint32_t level, NodeId result);

  std::vector<Node> nodes_;
  std::vector<NodeId> table_;  // open addressing, index of a node + 1, 0 = free
  std::vector<CacheEntry> cache_;
  std::uint32_t stamp_ = 0;  // of the query whose results the cache holds
  std::size_t node_limit_;
  bool exhausted_ = false;
};

}  // namespace secequiv::dd
