// Owns nodes of decision diagrams, their canonical form and the operations on them. Diagrams test
// the 512 input bits and the bits of symbols. Their leaves are 32-bit values. This file must not
// know instructions (forward.h, backward.h) or which input bit has which level (order.h).
//
// A node tests a run of consecutive bits of one word against a pattern: it continues with `hit` if
// all bits agree, otherwise with `miss`. A comparison of a word with a constant, the usual test of
// filters, therefore takes one node instead of 32. Each function has exactly one form, and nodes
// are hash-consed. Two diagrams are therefore the same function if and only if they are the same
// node.
#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "harness/base/clock.h"

namespace secequiv::dd {

using NodeId = std::uint32_t;

// How a test compares (word & mask) with k.
enum class Comparison : std::uint8_t { kEq, kGt, kGe, kAnyBit };

struct Node {
  NodeId hit;
  NodeId miss;
  std::uint32_t pattern;  // `length` bits, the highest is tested first; for a leaf, its value
  std::uint16_t level;    // level of the first tested bit; kLeaf for leaves
  std::uint16_t length;   // 1..32 bits; leaves: 0, or 1 for a symbol

  friend bool operator==(const Node&, const Node&) = default;
};
static_assert(sizeof(Node) == 16);

// Sixteen words of the input, and as many for symbols.
inline constexpr std::uint32_t kMostWords = 32;
inline constexpr std::uint16_t kLeaf = 32 * kMostWords;
inline constexpr std::uint32_t kInputBits = 512;

inline constexpr std::size_t kNoStepLimit = std::numeric_limits<std::size_t>::max() / 16;
inline constexpr double kNoTimeLimit = 1e6;

// The values of a word from `first` up to the next piece (Diagrams::pieces).
struct Piece {
  std::uint32_t first;
  NodeId value;
};

// Levels form blocks of 32, one for each word; the index of a block is called position. A run
// (consecutive bits with one expected value) stays within one block, as does a test of a whole
// word. Functions whose leaves are only 0 and 1 are sets ("Boolean").
class Diagrams {
 public:
  // The limits: `node_limit` nodes, `step_limit` steps, and about `seconds` from now (kNoTimeLimit
  // or more: unlimited). Only the time depends on the machine. Beyond a limit, exhausted() is true
  // and operations return arbitrary nodes. A good guess of `expected_nodes` saves time.
  explicit Diagrams(std::size_t node_limit, std::size_t step_limit = kNoStepLimit,
                    double seconds = kNoTimeLimit, std::size_t expected_nodes = 0);

  [[nodiscard]] NodeId leaf(std::uint32_t value);
  // Returns a leaf that stands for the caller's value number `index`, which is not a constant.
  [[nodiscard]] NodeId symbol(std::uint32_t index);
  // Returns the set of inputs whose bit at `level` is 1.
  [[nodiscard]] NodeId literal(std::uint32_t level);
  // Returns: if (block at `position` & mask) TEST k then `yes` else `no`.
  [[nodiscard]] NodeId test(Comparison test, std::uint32_t position, std::uint32_t mask,
                            std::uint32_t k, NodeId yes, NodeId no);
  // Returns the value of the piece that contains the word at `position`. Pieces ascend, and the
  // first one starts at 0. Precondition: no piece's value tests anything above that block.
  [[nodiscard]] NodeId pieces(std::uint32_t position, std::span<const Piece> pieces);
  // Returns: if `condition` then `yes` else `no`. Precondition: `condition` is Boolean.
  [[nodiscard]] NodeId choose(NodeId condition, NodeId yes, NodeId no);
  [[nodiscard]] NodeId both(NodeId a, NodeId b) { return choose(a, b, kZero); }
  [[nodiscard]] NodeId either(NodeId a, NodeId b) { return choose(a, kOne, b); }
  [[nodiscard]] NodeId negate(NodeId a) { return choose(a, kZero, kOne); }
  // Replaces every pair of leaves by the leaf that `combine(leaf of f, leaf of g)` returns.
  template <class Combine>
  [[nodiscard]] NodeId merge(NodeId f, NodeId g, const Combine& combine) {
    const std::uint32_t tag = ++stamp_;
    const auto end = [&](const std::array<NodeId, 2>& ids) -> std::optional<NodeId> {
      if (is_leaf(ids[0]) && is_leaf(ids[1])) return combine(ids[0], ids[1]);
      return std::nullopt;
    };
    return apply<2>({f, g}, tag, end);
  }
  // Returns `f`, with `g` in place of the leaf 0.
  [[nodiscard]] NodeId otherwise(NodeId f, NodeId g);
  // Replaces every leaf by the diagram that `replacement(leaf)` returns, which may be any diagram.
  template <class Replacement>
  [[nodiscard]] NodeId substitute(NodeId f, const Replacement& replacement) {
    std::unordered_map<NodeId, NodeId> done;
    return substitute(f, replacement, done);
  }

  // A set of levels.
  using Levels = std::bitset<kLeaf>;
  // Returns `f` without the bits at these levels: `combine(leaf, leaf)` joins the leaves that `f`
  // reaches with different values of the bits. Precondition: `combine` is commutative, associative
  // and idempotent.
  template <class Combine>
  [[nodiscard]] NodeId fold(NodeId f, const Levels& levels, const Combine& combine) {
    std::unordered_map<NodeId, NodeId> done;
    return fold(f, levels, combine, done);
  }

  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] std::uint32_t level(NodeId id) const { return nodes_[id].level; }
  // Returns how many input bits have a smaller level than the node; for a leaf, all 512.
  // Precondition: there are no symbols.
  [[nodiscard]] std::uint32_t bits_above(NodeId id) const {
    return is_leaf(id) ? kInputBits : level(id);
  }
  [[nodiscard]] bool is_leaf(NodeId id) const { return nodes_[id].level == kLeaf; }
  [[nodiscard]] bool is_symbol(NodeId id) const { return is_leaf(id) && nodes_[id].length == 1; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  // Exhausts the diagrams, for a caller that cannot express its result.
  void give_up() { exhausted_ = true; }
  // Counts one step. Code that walks diagrams outside this class counts its steps here as well.
  // Returns false if a limit is reached.
  bool step() {
    if (++steps_ >= next_look_) look();
    return !exhausted_;
  }
  // Returns whether a limit is reached, or would be by `more` bytes outside the diagrams.
  bool gives_up(std::size_t more = 0);
  [[nodiscard]] std::size_t bytes() const {
    return nodes_.capacity() * sizeof(Node) + table_.capacity() * sizeof(NodeId) +
           cache_.capacity() * sizeof(CacheEntry);
  }

  // Returns the function with the bit at `level` set to `value`. Precondition: the function tests
  // nothing above `level`.
  [[nodiscard]] NodeId cofactor(NodeId id, std::uint32_t level, bool value);
  // Returns the function with the bit at `level` set to `value`.
  [[nodiscard]] NodeId restrict(NodeId id, std::uint32_t level, bool value);

  // Returns the function with each bit of `bits` set to its value. Precondition: levels ascend.
  struct Bit {
    std::uint32_t level;
    bool value;
  };
  [[nodiscard]] NodeId restrict_bits(NodeId id, std::span<const Bit> bits);

  // Returns the function with the whole block at `position` set to `value`.
  [[nodiscard]] NodeId restrict_block(NodeId id, std::uint32_t position, std::uint32_t value);

  // The leaves 0 and 1.
  static constexpr NodeId kZero = 0;
  static constexpr NodeId kOne = 1;

 private:
  struct CacheEntry {
    NodeId a = 0;
    NodeId b = 0;
    NodeId c = 0;
    std::uint32_t tag = 0;  // operation that made the entry; 0: free
    NodeId result = 0;
  };
  // The comparison that compare() builds.
  struct Query {
    Comparison test;
    std::uint32_t base;  // level of the word's first bit
    std::uint32_t mask;
    std::uint32_t k;
  };
  // The next step that several diagrams can take together from level `top`. It covers `bits` bits;
  // each diagram tests them against `pattern` or does not test them. If `bits` is 0, the step is
  // one bit, which the diagrams test against different patterns.
  struct Cut {
    std::uint32_t top;
    std::uint32_t bits;
    std::uint32_t pattern;
  };

  void look();
  NodeId intern(Node node);
  void grow();
  Node shape(std::uint32_t level, NodeId low, NodeId high) const;
  NodeId make(std::uint32_t level, NodeId low, NodeId high);
  // Returns: if the `length` bits from `level` equal `pattern` then `hit` else `miss`.
  NodeId chain(std::uint32_t level, std::uint32_t length, std::uint32_t pattern, NodeId hit,
               NodeId miss);
  // Returns what remains of `id` if the first `bits` bits of its run agree.
  NodeId rest(NodeId id, std::uint32_t bits);
  // Return what remains of `id` after the step `cut`. In hit(), the bits agree with the pattern (in
  // a cut of 0 bits, the bit is 1); in miss(), the opposite holds.
  NodeId hit(NodeId id, const Cut& cut);
  NodeId miss(NodeId id, const Cut& cut);
  NodeId join(const Cut& cut, NodeId hit, NodeId miss) {
    return cut.bits == 0 ? make(cut.top, miss, hit)
                         : chain(cut.top, cut.bits, cut.pattern, hit, miss);
  }
  [[nodiscard]] Cut cut(std::span<const NodeId> ids) const;

  NodeId equal(std::uint32_t base, std::uint32_t bit, std::uint32_t k, NodeId yes, NodeId no);
  NodeId compare(const Query& q, std::uint32_t bit, NodeId yes, NodeId no);
  NodeId above(const Query& q, NodeId yes, NodeId no);
  NodeId at_word(const Query& q, NodeId yes, NodeId no);
  // Returns `id` restricted to inputs whose first `bits` bits of the block at `base` equal those of
  // `prefix`.
  NodeId within(NodeId id, std::uint32_t base, std::uint32_t prefix, std::uint32_t bits);
  NodeId build(std::uint32_t base, std::span<const Piece> pieces, std::uint32_t bit,
               std::uint32_t prefix);

  template <std::size_t N, class End>
  NodeId apply(const std::array<NodeId, N>& ids, std::uint32_t tag, const End& end) {
    if (const std::optional<NodeId> known = end(ids)) return *known;
    if (!step()) return kZero;
    const NodeId third = N > 2 ? ids[N - 1] : 0;
    if (const auto known = cached(ids[0], ids[1], third, tag)) return *known;
    const Cut at = cut(ids);
    std::array<NodeId, N> hits;
    std::array<NodeId, N> misses;
    for (std::size_t i = 0; i < N; ++i) {
      hits[i] = hit(ids[i], at);
      misses[i] = miss(ids[i], at);
    }
    const NodeId missed = apply<N>(misses, tag, end);
    const NodeId out = join(at, apply<N>(hits, tag, end), missed);
    remember(ids[0], ids[1], third, tag, out);
    return out;
  }

  template <class Replacement>
  NodeId substitute(NodeId f, const Replacement& replacement,
                    std::unordered_map<NodeId, NodeId>& done) {
    if (is_leaf(f)) return replacement(f);
    if (!step()) return kZero;
    if (const auto known = done.find(f); known != done.end()) return known->second;
    const Node run = nodes_[f];
    const NodeId missed = substitute(run.miss, replacement, done);
    const NodeId hits = substitute(run.hit, replacement, done);
    const std::uint32_t shift = 32 - run.level % 32 - run.length;
    const NodeId out =
        test(Comparison::kEq, run.level / 32, ((2u << (run.length - 1)) - 1) << shift,
             run.pattern << shift, hits, missed);
    done.emplace(f, out);
    return out;
  }

  template <class Combine>
  NodeId fold(NodeId f, const Levels& levels, const Combine& combine,
              std::unordered_map<NodeId, NodeId>& done) {
    if (is_leaf(f) || !step()) return f;
    if (const auto known = done.find(f); known != done.end()) return known->second;
    const Node run = nodes_[f];
    const NodeId missed = fold(run.miss, levels, combine, done);
    NodeId hits = fold(run.hit, levels, combine, done);
    std::uint32_t kept = 0;  // mask of the bits that remain, within the block
    for (std::uint32_t i = 0; i < run.length; ++i)
      if (!levels[run.level + i]) kept |= 1u << (31 - (run.level + i) % 32);
    // A bit that goes can lead to either side, whatever the bits that remain.
    if (std::popcount(kept) < run.length) hits = merge(hits, missed, combine);
    const std::uint32_t shift = 32 - run.level % 32 - run.length;
    const NodeId out = kept == 0 ? hits
                                 : test(Comparison::kEq, run.level / 32, kept,
                                        run.pattern << shift & kept, hits, missed);
    done.emplace(f, out);
    return out;
  }

  std::optional<NodeId> cached(NodeId a, NodeId b, NodeId c, std::uint32_t tag) const;
  void remember(NodeId a, NodeId b, NodeId c, std::uint32_t tag, NodeId result);

  std::vector<Node> nodes_;
  std::vector<NodeId> table_;  // open addressing: index of a node + 1; 0: free
  std::vector<CacheEntry> cache_;
  std::size_t remembered_ = 0;  // entries since the cache last grew
  std::uint32_t stamp_ = 1;     // tag of the latest operation with parameters; 1: choose
  std::size_t node_limit_;
  std::size_t steps_ = 0;
  std::size_t step_limit_;
  Clock::time_point deadline_;
  std::size_t next_look_ = 0;  // step at which look() examines limits
  bool exhausted_ = false;
};

}  // namespace secequiv::dd
