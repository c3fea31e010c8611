#include "verify/dd/diagram.h"

#include <algorithm>
#include <bit>

#include "harness/base/interrupt.h"

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kBits = 32;
constexpr std::size_t kFirstTable = 1 << 10;
constexpr std::size_t kMostFirstTable = 1 << 16;
constexpr std::size_t kFirstCache = 1 << 9;
constexpr std::size_t kMostCache = 1 << 18;
constexpr std::uint32_t kChooseTag = 1;

std::uint32_t low_bits(std::uint32_t count) {
  return count >= kBits ? 0xffffffffu : (1u << count) - 1;
}

// Returns bits [bit, 32) of k as a number. Bit 0 is the most significant.
std::uint32_t suffix(std::uint32_t k, std::uint32_t bit) { return k & low_bits(kBits - bit); }

bool bit_of(std::uint32_t k, std::uint32_t bit) { return (k >> (kBits - 1 - bit) & 1) != 0; }

struct Packed {
  std::uint64_t first;
  std::uint64_t second;
};

std::size_t hash(const Packed& n) {
  const std::uint64_t h = n.first * 0x9e3779b97f4a7c15u ^ n.second * 0xc2b2ae3d27d4eb4fu;
  return static_cast<std::size_t>(h ^ h >> 29 ^ h >> 47);
}

std::size_t slot(NodeId a, NodeId b, NodeId c, std::uint32_t tag) {
  return (a * 0x9e3779b1u ^ b * 0x85ebca6bu ^ c * 0xc2b2ae35u ^ tag * 0x27d4eb2fu) >> 9;
}

}  // namespace

Diagrams::Diagrams(std::size_t node_limit, std::size_t step_limit, double seconds,
                   std::size_t expected_nodes)
    : table_(std::clamp(std::bit_ceil(expected_nodes * 2), kFirstTable, kMostFirstTable)),
      cache_(kFirstCache),
      node_limit_(std::max<std::size_t>(node_limit, 2)),
      step_limit_(step_limit),
      deadline_(Clock::now() +
                std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double>(std::min(kNoTimeLimit, seconds)))) {
  nodes_.reserve(table_.size() / 2 + 1);
  static_cast<void>(leaf(0));
  static_cast<void>(leaf(1));
}

void Diagrams::look() {
  constexpr std::size_t kBetween = 1 << 12;
  if (steps_ > step_limit_ || Clock::now() > deadline_ || stop_wanted()) exhausted_ = true;
  next_look_ = exhausted_ ? ~std::size_t{0} : std::min(steps_ + kBetween, step_limit_ + 1);
}

bool Diagrams::gives_up(std::size_t more) {
  look();
  if (!memory_fits(more)) exhausted_ = true;
  return exhausted_;
}

void Diagrams::grow() {
  table_.assign(table_.size() * 4, 0);
  const std::size_t mask = table_.size() - 1;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    std::size_t at = hash(std::bit_cast<Packed>(nodes_[id])) & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = id + 1;
  }
}

NodeId Diagrams::intern(Node node) {
  const std::size_t mask = table_.size() - 1;
  const auto packed = std::bit_cast<Packed>(node);
  std::size_t at = hash(packed) & mask;
  for (; table_[at] != 0; at = (at + 1) & mask)
    if (const auto known = std::bit_cast<Packed>(nodes_[table_[at] - 1]);
        known.first == packed.first && known.second == packed.second)
      return table_[at] - 1;
  if (nodes_.size() >= node_limit_) {
    exhausted_ = true;
    return kZero;
  }
  nodes_.push_back(node);
  const auto id = static_cast<NodeId>(nodes_.size() - 1);
  table_[at] = id + 1;
  if (nodes_.size() * 2 > table_.size()) grow();
  return id;
}

NodeId Diagrams::leaf(std::uint32_t value) { return intern(Node{0, 0, value, kLeaf, 0}); }
NodeId Diagrams::symbol(std::uint32_t index) { return intern(Node{0, 0, index, kLeaf, 1}); }
NodeId Diagrams::literal(std::uint32_t level) { return make(level, kZero, kOne); }

// Returns the canonical node that tests one bit and has two different children. If one child is a
// run from the next bit of the same word, and the other child is that run's miss, both tests become
// one longer run. This cannot hold for both children, because each would have to contain the other.
Node Diagrams::shape(std::uint32_t level, NodeId low, NodeId high) const {
  const auto extend = [&](const Node& run, NodeId other, bool bit) -> std::optional<Node> {
    if (run.level != level + 1 || run.level % kBits == 0) return std::nullopt;
    const auto length = static_cast<std::uint16_t>(run.length + 1);
    const std::uint32_t top = bit ? 1u << run.length : 0;
    if (run.miss == other)
      return Node{run.hit, other, top | run.pattern, static_cast<std::uint16_t>(level), length};
    if (run.length == 1 && run.hit == other)
      return Node{run.miss, other, top, static_cast<std::uint16_t>(level), length};
    return std::nullopt;
  };
  if (const auto run = extend(nodes_[high], low, true)) return *run;
  if (const auto run = extend(nodes_[low], high, false)) return *run;
  return Node{high, low, 1, static_cast<std::uint16_t>(level), 1};
}

NodeId Diagrams::make(std::uint32_t level, NodeId low, NodeId high) {
  return low == high ? low : intern(shape(level, low, high));
}

NodeId Diagrams::chain(std::uint32_t level, std::uint32_t length, std::uint32_t pattern, NodeId hit,
                       NodeId miss) {
  if (hit == miss) return miss;
  const bool last = (pattern & 1) != 0;
  Node tail = shape(level + length - 1, last ? miss : hit, last ? hit : miss);
  if (length == 1) return intern(tail);
  if (tail.length == 1 && tail.miss != miss) tail = Node{tail.miss, miss, 0, tail.level, 1};
  if (tail.miss == miss) {
    // Every earlier bit extends the run, so no nodes are made for these bits.
    const std::uint32_t before = length - 1;
    return intern(
        Node{tail.hit, miss,
             static_cast<std::uint32_t>(std::uint64_t{pattern >> 1} << tail.length) | tail.pattern,
             static_cast<std::uint16_t>(level), static_cast<std::uint16_t>(before + tail.length)});
  }
  NodeId out = intern(tail);
  for (std::uint32_t bit = 1; bit < length; ++bit)
    out = (pattern >> bit & 1) != 0 ? make(level + length - 1 - bit, miss, out)
                                    : make(level + length - 1 - bit, out, miss);
  return out;
}

NodeId Diagrams::rest(NodeId id, std::uint32_t bits) {
  const Node run = nodes_[id];
  if (bits == run.length) return run.hit;
  const std::uint32_t length = run.length - bits;
  const auto first = static_cast<std::uint16_t>(run.level + bits);
  const std::uint32_t pattern = run.pattern & low_bits(length);
  if (length == 1 && pattern == 0) return intern(Node{run.miss, run.hit, 1, first, 1});
  return intern(Node{run.hit, run.miss, pattern, first, static_cast<std::uint16_t>(length)});
}

NodeId Diagrams::cofactor(NodeId id, std::uint32_t level, bool value) {
  const Node& run = nodes_[id];
  if (run.level != level) return id;
  const bool first = (run.pattern >> (run.length - 1) & 1) != 0;
  return first == value ? rest(id, 1) : run.miss;
}

NodeId Diagrams::restrict(NodeId id, std::uint32_t level, bool value) {
  if (this->level(id) > level) return id;
  if (this->level(id) == level) return cofactor(id, level, value);
  std::unordered_map<NodeId, NodeId> done;
  const auto walk = [&](const auto& self, NodeId at) -> NodeId {
    if (this->level(at) > level) return at;
    if (const auto known = done.find(at); known != done.end()) return known->second;
    const Node run = nodes_[at];
    NodeId out = at;
    if (run.level == level) {
      out = cofactor(at, level, value);
    } else if (const std::uint32_t before = level - run.level; before < run.length) {
      const NodeId tail = cofactor(rest(at, before), level, value);
      out = chain(run.level, before, run.pattern >> (run.length - before), tail, run.miss);
    } else {
      const NodeId missed = self(self, run.miss);
      out = chain(run.level, run.length, run.pattern, self(self, run.hit), missed);
    }
    done.emplace(at, out);
    return out;
  };
  return walk(walk, id);
}

// Walks once through the nodes down to the last bit: one walk for each bit would visit the upper
// nodes again each time.
NodeId Diagrams::restrict_bits(NodeId id, std::span<const Bit> bits) {
  std::unordered_map<NodeId, NodeId> done;
  const auto walk = [&](const auto& self, NodeId at) -> NodeId {
    if (level(at) > bits.back().level) return at;
    if (const auto known = done.find(at); known != done.end()) return known->second;
    const Node run = nodes_[at];
    const Bit next = *std::ranges::lower_bound(bits, run.level, {}, &Bit::level);
    NodeId out = at;
    if (next.level == run.level) {
      out = self(self, cofactor(at, next.level, next.value));
    } else {
      const std::uint32_t before = std::min<std::uint32_t>(next.level - run.level, run.length);
      const NodeId missed = self(self, run.miss);
      out = chain(run.level, before, run.pattern >> (run.length - before),
                  self(self, rest(at, before)), missed);
    }
    done.emplace(at, out);
    return out;
  };
  return walk(walk, id);
}

NodeId Diagrams::restrict_block(NodeId id, std::uint32_t position, std::uint32_t value) {
  const std::uint32_t base = position * 32;
  std::unordered_map<NodeId, NodeId> done;
  const auto walk = [&](const auto& self, NodeId at) -> NodeId {
    if (level(at) >= base) return within(at, base, value, 32);
    if (const auto known = done.find(at); known != done.end()) return known->second;
    const Node run = nodes_[at];
    const NodeId missed = self(self, run.miss);
    const NodeId out = chain(run.level, run.length, run.pattern, self(self, run.hit), missed);
    done.emplace(at, out);
    return out;
  };
  return walk(walk, id);
}

Diagrams::Cut Diagrams::cut(std::span<const NodeId> ids) const {
  const Node* first = &nodes_[ids[0]];
  for (const NodeId id : ids.subspan(1))
    if (nodes_[id].level < first->level) first = &nodes_[id];
  Cut out{first->level, first->length, 0};
  for (const NodeId id : ids) {
    const Node& other = nodes_[id];
    if (other.level != out.top) {
      out.bits = std::min<std::uint32_t>(out.bits, other.level - out.top);
      continue;
    }
    out.bits = std::min<std::uint32_t>(out.bits, other.length);
    const std::uint32_t differing = (first->pattern >> (first->length - out.bits)) ^
                                    (other.pattern >> (other.length - out.bits));
    // Keeps only the bits before the first difference.
    if (differing != 0) out.bits -= kBits - static_cast<std::uint32_t>(std::countl_zero(differing));
    if (out.bits == 0) return out;
  }
  out.pattern = first->pattern >> (first->length - out.bits);
  return out;
}

NodeId Diagrams::hit(NodeId id, const Cut& cut) {
  if (level(id) != cut.top) return id;
  return cut.bits == 0 ? cofactor(id, cut.top, true) : rest(id, cut.bits);
}

NodeId Diagrams::miss(NodeId id, const Cut& cut) {
  if (level(id) != cut.top) return id;
  return cut.bits == 0 ? cofactor(id, cut.top, false) : nodes_[id].miss;
}

NodeId Diagrams::choose(NodeId condition, NodeId yes, NodeId no) {
  const auto end = [](const std::array<NodeId, 3>& ids) -> std::optional<NodeId> {
    if (ids[0] == kOne || ids[1] == ids[2]) return ids[1];
    if (ids[0] == kZero) return ids[2];
    if (ids[1] == kOne && ids[2] == kZero) return ids[0];
    return std::nullopt;
  };
  return apply<3>({condition, yes, no}, kChooseTag, end);
}

NodeId Diagrams::otherwise(NodeId f, NodeId g) {
  const auto end = [&](const std::array<NodeId, 2>& ids) -> std::optional<NodeId> {
    if (ids[0] == kZero) return ids[1];
    if (ids[1] == kZero || is_leaf(ids[0])) return ids[0];
    return std::nullopt;
  };
  return apply<2>({f, g}, ++stamp_, end);
}

NodeId Diagrams::test(Comparison test, std::uint32_t position, std::uint32_t mask, std::uint32_t k,
                      NodeId yes, NodeId no) {
  if (yes == no) return yes;
  const std::uint32_t base = position * kBits;
  Query q{test, base, mask, k};
  if (test == Comparison::kAnyBit) {
    q.mask &= k;
    q.k = 0;
    q.test = Comparison::kGt;
  }
  if (q.test == Comparison::kEq && (q.k & ~q.mask) != 0) return no;
  ++stamp_;
  return above(q, yes, no);
}

// Splits the words above the tested one first, one run at a time.
NodeId Diagrams::above(const Query& q, NodeId yes, NodeId no) {
  if (yes == no || !step()) return yes;
  const std::uint32_t top = std::min(level(yes), level(no));
  if (top >= q.base) return at_word(q, yes, no);
  if (const auto known = cached(yes, no, top, stamp_)) return *known;
  const NodeId ids[] = {yes, no};
  const Cut at = cut(ids);
  const NodeId missed = above(q, miss(yes, at), miss(no, at));
  const NodeId out = join(at, above(q, hit(yes, at), hit(no, at)), missed);
  remember(yes, no, top, stamp_, out);
  return out;
}

NodeId Diagrams::at_word(const Query& q, NodeId yes, NodeId no) {
  if (q.test != Comparison::kEq || q.mask != 0xffffffff) return compare(q, 0, yes, no);
  // Where the word equals k, `yes` no longer depends on the word.
  while (level(yes) < q.base + kBits) {
    const Node& run = nodes_[yes];
    const std::uint32_t bit = run.level - q.base;
    const std::uint32_t there = suffix(q.k, bit) >> (kBits - bit - run.length);
    yes = there == run.pattern ? run.hit : run.miss;
  }
  return equal(q.base, 0, q.k, yes, no);
}

// Returns the diagram that is `yes` where bits [bit, 32) of the word equal those of k, and `no`
// elsewhere. Precondition: `yes` does not depend on the word.
NodeId Diagrams::equal(std::uint32_t base, std::uint32_t bit, std::uint32_t k, NodeId yes,
                       NodeId no) {
  if (bit == kBits || yes == no) return yes;
  const std::uint32_t from = base + bit;
  const Node run = nodes_[no];
  if (run.level >= base + kBits) return chain(from, kBits - bit, suffix(k, bit), yes, no);
  if (run.level > from) {
    const std::uint32_t gap = run.level - from;
    return chain(from, gap, suffix(k, bit) >> (kBits - bit - gap),
                 equal(base, bit + gap, k, yes, no), no);
  }
  const std::uint32_t mine = suffix(k, bit) >> (kBits - bit - run.length);
  const std::uint32_t differing = mine ^ run.pattern;
  if (differing == 0)
    return chain(from, run.length, run.pattern, equal(base, bit + run.length, k, yes, run.hit),
                 run.miss);
  const auto agree = static_cast<std::uint32_t>(std::countl_zero(differing)) - (kBits - run.length);
  const NodeId on_path = equal(base, bit + agree + 1, k, yes, run.miss);
  const NodeId off_path = rest(no, agree + 1);
  const NodeId fork = bit_of(k, bit + agree) ? make(from + agree, off_path, on_path)
                                             : make(from + agree, on_path, off_path);
  return agree == 0 ? fork
                    : chain(from, agree, run.pattern >> (run.length - agree), fork, run.miss);
}

// Goes from the most significant bit: the first bit that differs from k decides. Bits
// that neither diagram tests become one node if one outcome of that node decides the comparison.
NodeId Diagrams::compare(const Query& q, std::uint32_t bit, NodeId yes, NodeId no) {
  if (yes == no || !step()) return yes;
  if (bit == kBits) return q.test == Comparison::kGt ? no : yes;
  // The rest may be decided already: the remaining masked bits cannot exceed, or cannot reach, the
  // rest of k.
  const std::uint32_t left_mask = suffix(q.mask, bit);
  const std::uint32_t left_k = suffix(q.k, bit);
  if (q.test == Comparison::kGe && left_k == 0) return yes;
  if (left_mask == 0) return q.test == Comparison::kEq && left_k == 0 ? yes : no;
  const std::uint32_t from = q.base + bit;
  const std::uint32_t free = std::min({level(yes), level(no), q.base + kBits}) - from;
  const bool masked = bit_of(q.mask, bit);
  const bool k_bit = bit_of(q.k, bit);
  if (free > 0 && masked) {
    // Finds the longest run of masked bits that are equal in k. For equality, any masked bits form
    // a run.
    std::uint32_t run = 1;
    while (run < free && bit_of(q.mask, bit + run) &&
           (q.test == Comparison::kEq || bit_of(q.k, bit + run) == k_bit))
      ++run;
    const NodeId miss = q.test == Comparison::kEq || k_bit ? no : yes;
    return chain(from, run, left_k >> (kBits - bit - run), compare(q, bit + run, yes, no), miss);
  }
  if (!masked) {
    // The masked word has a 0 at this bit.
    if (k_bit) return no;
    if (free > 0) return compare(q, bit + 1, yes, no);
  }
  if (const auto known = cached(yes, no, from, stamp_)) return *known;
  const auto side = [&](bool value) {
    const NodeId yes_here = cofactor(yes, from, value);
    const NodeId no_here = cofactor(no, from, value);
    if (!masked || value == k_bit) return compare(q, bit + 1, yes_here, no_here);
    return value && q.test != Comparison::kEq ? yes_here : no_here;
  };
  const NodeId low = side(false);
  const NodeId high = side(true);
  const NodeId out = make(from, low, high);
  remember(yes, no, from, stamp_, out);
  return out;
}

NodeId Diagrams::within(NodeId id, std::uint32_t base, std::uint32_t prefix, std::uint32_t bits) {
  while (level(id) < base + bits) {
    const Node run = nodes_[id];
    const std::uint32_t bit = run.level - base;
    const std::uint32_t known = std::min<std::uint32_t>(run.length, bits - bit);
    const std::uint32_t there = suffix(prefix, bit) >> (kBits - bit - known);
    if (there != run.pattern >> (run.length - known)) {
      id = run.miss;
    } else {
      id = rest(id, known);
    }
  }
  return id;
}

NodeId Diagrams::pieces(std::uint32_t position, std::span<const Piece> pieces) {
  return build(position * kBits, pieces, 0, 0);
}

// Precondition: `pieces` are those that contain a value whose first `bit` bits are those of
// `prefix`.
NodeId Diagrams::build(std::uint32_t base, std::span<const Piece> pieces, std::uint32_t bit,
                       std::uint32_t prefix) {
  // Consecutive bits form one run if one value of each bit leads to the same single piece.
  const std::uint32_t from = bit;
  NodeId miss = kZero;
  const auto run = [&](NodeId inner) {
    return bit == from
               ? inner
               : chain(base + from, bit - from, suffix(prefix, from) >> (kBits - bit), inner, miss);
  };
  const auto alone = [&](const Piece& piece, std::uint32_t values) {
    return within(piece.value, base, values, bit + 1);
  };
  for (;; ++bit) {
    if (pieces.size() == 1) return run(within(pieces[0].value, base, prefix, bit));
    const std::uint32_t middle = prefix | 1u << (kBits - 1 - bit);
    const auto above = std::ranges::upper_bound(pieces, middle, {}, &Piece::first);
    const auto upper = static_cast<std::size_t>(above - pieces.begin()) - 1;
    const std::size_t lower = pieces[upper].first == middle ? upper : upper + 1;
    const std::span<const Piece> low = pieces.first(lower);
    const std::span<const Piece> high = pieces.subspan(upper);
    const bool low_alone = low.size() == 1;
    if (!low_alone && high.size() != 1) break;
    const NodeId other = low_alone ? alone(low[0], prefix) : alone(high[0], middle);
    if (bit == from) {
      miss = other;
    } else if (other != miss) {
      break;
    }
    pieces = low_alone ? high : low;
    if (low_alone) prefix = middle;
  }
  if (bit != from) return run(build(base, pieces, bit, prefix));
  const std::uint32_t middle = prefix | 1u << (kBits - 1 - bit);
  const auto above = std::ranges::upper_bound(pieces, middle, {}, &Piece::first);
  const auto upper = static_cast<std::size_t>(above - pieces.begin()) - 1;
  const std::size_t lower = pieces[upper].first == middle ? upper : upper + 1;
  const NodeId low = build(base, pieces.first(lower), bit + 1, prefix);
  return make(base + bit, low, build(base, pieces.subspan(upper), bit + 1, middle));
}

std::optional<NodeId> Diagrams::cached(NodeId a, NodeId b, NodeId c, std::uint32_t tag) const {
  const CacheEntry& entry = cache_[slot(a, b, c, tag) & (cache_.size() - 1)];
  if (entry.tag == tag && entry.a == a && entry.b == b && entry.c == c) return entry.result;
  return std::nullopt;
}

void Diagrams::remember(NodeId a, NodeId b, NodeId c, std::uint32_t tag, NodeId result) {
  // If more results were stored than fit, a larger cache saves time, although it starts empty.
  if (++remembered_ > cache_.size() && cache_.size() < kMostCache) {
    cache_.assign(cache_.size() * 4, CacheEntry{});
    remembered_ = 0;
  }
  cache_[slot(a, b, c, tag) & (cache_.size() - 1)] = CacheEntry{a, b, c, tag, result};
}

}  // namespace secequiv::dd
