// The pass value-set-to-bits replaces the tests of a set of values by one test of the bits that
// they share.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "harness/optimize/rules/passes.h"
#include "harness/optimize/rules/tree.h"

namespace secequiv::detail {
namespace {

using Op = Matcher::Op;

constexpr std::size_t kMaxFreeBits = 6;  // limit for a subset of a larger set

// The bits that an equality test reads, and the value that it expects.
struct Equality {
  std::size_t field;
  std::uint64_t bits;  // kLowHalf, kHighHalf or all bits
  std::uint64_t value;
};

std::optional<Equality> equality_of(const Rule& rule) {
  if (rule.kind != Rule::Kind::kArgs) return std::nullopt;
  std::optional<Equality> out;
  for (std::size_t field = 0; field < rule.fields.size(); ++field) {
    const Matcher& m = rule.fields[field];
    if (m.op == Op::kAny) continue;
    const bool high = m.op == Op::kMaskedEq && !m.low_half && m.mask == kHighHalf;
    const std::uint64_t bits = high ? kHighHalf : width(m);
    if (out || (m.op != Op::kEq && !high)) return std::nullopt;
    if (!m.variable.empty() || (m.value & ~bits) != 0) return std::nullopt;
    out = Equality{field, bits, m.value};
  }
  return out;
}

// All values that agree with `base` outside `free`.
struct Cube {
  std::uint64_t base = 0;
  std::uint64_t free = 0;

  [[nodiscard]] std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> out;
    for (std::uint64_t part = free;; part = (part - 1) & free) {
      out.push_back(base | part);
      if (part == 0) return out;
    }
  }
};

// Counts the tests that decide whether a word is in a set. A single value takes one test, and a run
// of three or more values takes one for each bound.
class Runs {
 public:
  explicit Runs(std::uint64_t highest) : highest_(highest) {}

  [[nodiscard]] std::size_t tests() const { return tests_; }

  void insert(std::uint64_t value) {
    std::uint64_t first = value;
    std::uint64_t last = value;
    auto next = runs_.upper_bound(value);
    if (next != runs_.end() && next->first - 1 == value) {
      last = next->second;
      next = drop(next);
    }
    if (next != runs_.begin() && std::prev(next)->second + 1 == value && value != 0) {
      first = std::prev(next)->first;
      drop(std::prev(next));
    }
    add(first, last);
  }

  void remove(std::uint64_t value) {
    const auto at = std::prev(runs_.upper_bound(value));
    const auto [first, last] = *at;
    drop(at);
    if (first != value) add(first, value - 1);
    if (last != value) add(value + 1, last);
  }

 private:
  using Map = std::map<std::uint64_t, std::uint64_t>;  // maps the first value of a run to its last

  [[nodiscard]] std::size_t tests_of(std::uint64_t first, std::uint64_t last) const {
    if (last - first < 2) return last - first + 1;
    return (first != 0 ? 1 : 0) + (last != highest_ ? 1 : 0);
  }
  void add(std::uint64_t first, std::uint64_t last) {
    runs_.emplace(first, last);
    tests_ += tests_of(first, last);
  }
  Map::iterator drop(Map::iterator at) {
    tests_ -= tests_of(at->first, at->second);
    return runs_.erase(at);
  }

  std::uint64_t highest_;
  Map runs_;
  std::size_t tests_ = 0;
};

// The values that the branches with one field expect, as numbers of the tested width.
class ValueSet {
 public:
  ValueSet(std::set<std::uint64_t> values, std::uint64_t highest)
      : values_(std::move(values)), runs_(highest) {
    for (const std::uint64_t value : values_) runs_.insert(value);
  }

  // Returns disjoint subsets of at least two values for which a test of bits is cheaper.
  std::vector<Cube> take() {
    for (bool again = true; again;) {
      again = false;
      if (values_.size() < 2) break;
      if (const auto all = whole()) {
        taken_.push_back(*all);
        break;
      }
      for (const Cube& cube : candidates()) again = accept(cube) || again;
    }
    return taken_;
  }

 private:
  [[nodiscard]] std::optional<Cube> whole() const {
    std::uint64_t in_all = *values_.begin();
    std::uint64_t in_any = 0;
    for (const std::uint64_t value : values_) {
      in_all &= value;
      in_any |= value;
    }
    const std::uint64_t free = in_all ^ in_any;
    const int bits = std::popcount(free);
    if (bits >= 64 || values_.size() != std::uint64_t{1} << bits) return std::nullopt;
    return Cube{in_all, free};
  }

  // For each value, searches greedily for a large subset that has no smaller value. Returns the
  // largest subsets first.
  [[nodiscard]] std::vector<Cube> candidates() const {
    std::vector<Cube> out;
    for (const std::uint64_t base : values_) {
      std::vector<std::uint64_t> bits;
      for (int i = 0; i < 64; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        if ((base & bit) == 0 && values_.contains(base | bit)) bits.push_back(bit);
      }
      Cube best{base, 0};
      for (const std::uint64_t first : bits) {
        const Cube cube = grown(base, first, bits);
        if (std::popcount(cube.free) > std::popcount(best.free)) best = cube;
      }
      if (best.free != 0) out.push_back(best);
    }
    std::ranges::sort(
        out, {}, [](const Cube& cube) { return std::pair(-std::popcount(cube.free), cube.base); });
    return out;
  }

  [[nodiscard]] Cube grown(std::uint64_t base, std::uint64_t first,
                           const std::vector<std::uint64_t>& bits) const {
    Cube cube{base, first};
    std::vector<std::uint64_t> members = {base, base | first};
    for (const std::uint64_t bit : bits) {
      if ((cube.free & bit) != 0) continue;
      if (members.size() >> kMaxFreeBits != 0) break;
      const auto present = [&](std::uint64_t value) { return values_.contains(value | bit); };
      if (!std::ranges::all_of(members, present)) continue;
      for (std::size_t i = members.size(); i > 0; --i) members.push_back(members[i - 1] | bit);
      cube.free |= bit;
    }
    return cube;
  }

  // Removes the subset if it is still complete and saves tests.
  bool accept(const Cube& cube) {
    const std::vector<std::uint64_t> members = cube.values();
    const auto present = [&](std::uint64_t value) { return values_.contains(value); };
    if (!std::ranges::all_of(members, present)) return false;
    const std::size_t before = runs_.tests();
    for (const std::uint64_t value : members) runs_.remove(value);
    // "None of these bits" takes one test. Any other subset takes a mask, a comparison and a new
    // load, and a word with any remaining value also executes these instructions.
    if (runs_.tests() + (cube.base == 0 ? 1 : 4) >= before) {
      for (const std::uint64_t value : members) runs_.insert(value);
      return false;
    }
    for (const std::uint64_t value : members) values_.erase(value);
    taken_.push_back(cube);
    return true;
  }

  std::set<std::uint64_t> values_;
  Runs runs_;
  std::vector<Cube> taken_;
};

Rule merged(Rule node) {
  if (node.kind != Rule::Kind::kAnyOf) return node;
  using Key = std::pair<std::size_t, std::uint64_t>;                      // field, bits
  std::map<Key, std::map<std::uint64_t, std::vector<std::size_t>>> sets;  // value → branches
  for (std::size_t i = 0; i < node.children.size(); ++i)
    if (const auto test = equality_of(node.children[i]))
      sets[{test->field, test->bits}][test->value].push_back(i);
  std::vector<bool> gone(node.children.size());
  for (const auto& [key, branches] : sets) {
    const auto [field, bits] = key;
    const int shift = bits == kHighHalf ? 32 : 0;
    std::set<std::uint64_t> values;
    for (const auto& [value, where] : branches) values.insert(value >> shift);
    for (const Cube& cube : ValueSet(std::move(values), bits >> shift).take()) {
      std::size_t first = node.children.size();
      for (const std::uint64_t value : cube.values()) {
        for (const std::size_t i : branches.at(value << shift)) {
          gone[i] = true;
          first = std::min(first, i);
        }
      }
      gone[first] = false;
      node.children[first] = args_rule(field, Matcher{Op::kMaskedEq,
                                                      cube.base << shift,
                                                      bits & ~(cube.free << shift),
                                                      bits == kLowHalf,
                                                      {}});
    }
  }
  std::vector<Rule> children;
  for (std::size_t i = 0; i < node.children.size(); ++i)
    if (!gone[i]) children.push_back(std::move(node.children[i]));
  if (children.size() == node.children.size()) {
    node.children = std::move(children);
    return node;
  }
  return branching(Rule::Kind::kAnyOf, std::move(children));
}

}  // namespace

Rule value_set_to_bits(const Rule& rule) { return rewrite(rule, merged); }

}  // namespace secequiv::detail
