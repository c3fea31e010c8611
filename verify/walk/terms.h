// Owns terms over the words of the input, in a normal form, and literals that test them. Equal
// terms have the same number. It must not know programs.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/bpf/interpreter.h"

namespace secequiv::walk {

using Term = std::uint32_t;

// States that `base & mask == value` or, if `order`, that `base >= value`. If `holds` is false, it
// states the opposite.
struct Literal {
  Term base = 0;
  bool order = false;
  bool holds = true;
  std::uint32_t mask = 0xffffffff;
  std::uint32_t value = 0;
  friend auto operator<=>(const Literal&, const Literal&) = default;

  [[nodiscard]] bool same_relation(const Literal& other) const {
    return base == other.base && order == other.order && mask == other.mask && value == other.value;
  }
};

// A domain of step(). The same term always has the same value. Different terms may have equal
// values, too.
class Terms {
 public:
  using Word = Term;
  struct Bool {
    bool known = false;  // if set, `literal.holds` is the outcome
    Literal literal;     // otherwise the outcome is whether the literal is true
  };
  // Certificates write operations as these characters. The last two operations yield 1 or 0.
  enum class Kind : std::uint32_t {
    kInput = 'w',
    kConstant = 'c',
    kUnknown = '?',
    kAdd = '+',
    kSub = '-',
    kMul = '*',
    kDiv = '/',
    kAnd = '&',
    kOr = '|',
    kXor = '^',
    kLsh = '<',
    kRsh = '>',
    kEqual = '=',
    kAtLeast = 'G',
  };

  // If `split_masks` is set, tests of `x & constant` become literals about x. Otherwise they become
  // literals about `x & constant`.
  explicit Terms(bool split_masks) : split_masks_(split_masks), table_(std::size_t{1} << 9) {
    clear();
  }
  // Forgets all terms, but keeps the allocated memory.
  void clear();

  Word constant(std::uint32_t k) { return intern(Kind::kConstant, k, 0); }
  static Word load(std::uint32_t i) { return i; }
  // Returns a new term whose value is unknown.
  Word unknown() { return append({Kind::kUnknown, 0, 0}); }

  Word add(Word a, Word b) { return commutative(Kind::kAdd, a, b); }
  Word sub(Word a, Word b) { return compute(Kind::kSub, a, b); }
  Word mul(Word a, Word b) { return commutative(Kind::kMul, a, b); }
  Word udiv(Word a, Word b) { return compute(Kind::kDiv, a, b); }
  Word bit_and(Word a, Word b);
  Word bit_or(Word a, Word b) { return commutative(Kind::kOr, a, b); }
  Word bit_xor(Word a, Word b) { return commutative(Kind::kXor, a, b); }
  Word lsh(Word a, Word b) { return compute(Kind::kLsh, a, b); }
  Word rsh(Word a, Word b) { return compute(Kind::kRsh, a, b); }
  Word neg(Word a) { return sub(constant(0), a); }
  Bool eq(Word a, Word b) {
    if (is_constant(a)) std::swap(a, b);
    if (is_constant(b)) return equal(a, kAllBits, number(b));
    return a == b ? truth(true)
                  : equal(intern(Kind::kEqual, std::min(a, b), std::max(a, b)), kAllBits, 1);
  }
  Bool uge(Word a, Word b);
  Bool ugt(Word a, Word b) { return negate(uge(b, a)); }
  Bool any_bit(Word a, Word b) {
    if (is_constant(a)) std::swap(a, b);
    return negate(is_constant(b) ? equal(a, number(b), 0) : equal(bit_and(a, b), kAllBits, 0));
  }

  [[nodiscard]] bool is_constant(Word word) const { return nodes_[word].kind == Kind::kConstant; }
  // Precondition: `word` is a constant.
  [[nodiscard]] std::uint32_t number(Word word) const { return nodes_[word].a; }

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Returns whether the term is neither a word of the input nor a constant.
  [[nodiscard]] bool is_operation(Word word) const {
    return nodes_[word].kind != Kind::kInput && nodes_[word].kind != Kind::kConstant;
  }
  // Return the operation and its operands, which have smaller numbers than the term. Precondition:
  // is_operation(word).
  [[nodiscard]] char operation(Word word) const { return static_cast<char>(nodes_[word].kind); }
  [[nodiscard]] std::array<Word, 2> operands(Word word) const {
    return {nodes_[word].a, nodes_[word].b};
  }

 private:
  struct Node {
    Kind kind;
    std::uint32_t a;  // operand; for a constant, its number
    std::uint32_t b;
  };
  struct Slot {
    std::uint32_t stamp = 0;
    Word word = 0;
  };
  static constexpr std::uint32_t kAllBits = 0xffffffff;

  static Bool negate(Bool test) {
    test.literal.holds = !test.literal.holds;
    return test;
  }
  static Bool truth(bool outcome) { return {true, {.holds = outcome}}; }
  // Returns the test `word & mask == value`.
  Bool equal(Word word, std::uint32_t mask, std::uint32_t value) const {
    const Node& node = nodes_[word];
    if (node.kind == Kind::kConstant) return truth((node.a & mask) == value);
    if (split_masks_ && node.kind == Kind::kAnd && is_constant(node.b)) {
      mask &= number(node.b);
      word = node.a;
    }
    if ((value & ~mask) != 0) return truth(false);
    if (mask == 0) return truth(true);
    return {false, {word, false, true, mask, value}};
  }
  [[nodiscard]] Bool at_least(Word word, std::uint32_t value) const {
    if (value == 0) return truth(true);
    if (is_constant(word)) return truth(number(word) >= value);
    return {false, {word, true, true, kAllBits, value}};
  }
  Word commutative(Kind kind, Word a, Word b) {
    if (is_constant(a) || (!is_constant(b) && a > b)) std::swap(a, b);
    return compute(kind, a, b);
  }
  Word compute(Kind kind, Word a, Word b) {
    if (is_constant(b)) {
      if (is_constant(a)) return constant(calculate(kind, number(a), number(b)));
      if (number(b) == neutral(kind)) return a;
    }
    return intern(kind, a, b);
  }
  static std::uint32_t calculate(Kind kind, std::uint32_t a, std::uint32_t b);
  // Returns the number k for which `a KIND k` equals a, for every a.
  static constexpr std::uint32_t neutral(Kind kind) {
    if (kind == Kind::kAnd) return kAllBits;
    return kind == Kind::kMul || kind == Kind::kDiv ? 1 : 0;
  }
  Word append(const Node& node) {
    nodes_.push_back(node);
    return static_cast<Word>(nodes_.size() - 1);
  }
  static std::size_t hash(const Node& node) {
    const std::uint64_t h = (std::uint64_t{node.a} << 32 | node.b) * 0x9e3779b97f4a7c15u ^
                            static_cast<std::uint64_t>(node.kind) * 0xc2b2ae3d27d4eb4fu;
    return static_cast<std::size_t>(h ^ h >> 29 ^ h >> 47);
  }
  Word intern(Kind kind, std::uint32_t a, std::uint32_t b);
  void grow();

  bool split_masks_;
  std::vector<Node> nodes_;  // the first 16 are the words of the input
  std::vector<Slot> table_;  // open addressing; slots with another stamp are free
  std::uint32_t stamp_ = 0;
};
static_assert(Domain<Terms>);

}  // namespace secequiv::walk
