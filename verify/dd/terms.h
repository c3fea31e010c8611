// Values as terms over the input: what was computed from what, with no attempt to understand it.
// Owns terms, equal ones being one number. It must not know programs.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "harness/bpf/interpreter.h"
#include "verify/dd/diagram.h"

namespace secequiv::dd {

// A domain of step. Equal words have equal values; unequal ones may have.
class Terms {
 public:
  using Word = std::uint32_t;
  // word TEST k
  struct Bool {
    Word word = 0;
    Comparison test = Comparison::kEq;
    std::uint32_t k = 0;
    friend bool operator==(const Bool&, const Bool&) = default;
  };

  Terms() : table_(std::size_t{1} << 9) { clear(); }
  // Forgets all terms, but keeps their memory.
  void clear();

  Word constant(std::uint32_t k) { return intern(Kind::kConstant, k, 0); }
  static Word load(std::uint32_t i) { return i; }
  // A value that nothing is known about, unlike all others.
  Word unknown() { return append({Kind::kUnknown, 0, 0}); }

  Word add(Word a, Word b) { return compute(Kind::kAdd, a, b, Concrete::add); }
  Word sub(Word a, Word b) { return compute(Kind::kSub, a, b, Concrete::sub); }
  Word mul(Word a, Word b) { return compute(Kind::kMul, a, b, Concrete::mul); }
  Word udiv(Word a, Word b) {
    // The divisor is not 0 where this is asked for, but an impossible path may say so.
    return compute(Kind::kDiv, a, b,
                   [](std::uint32_t x, std::uint32_t y) { return y == 0 ? 0 : x / y; });
  }
  Word bit_and(Word a, Word b) { return compute(Kind::kAnd, a, b, Concrete::bit_and); }
  Word bit_or(Word a, Word b) { return compute(Kind::kOr, a, b, Concrete::bit_or); }
  Word bit_xor(Word a, Word b) { return compute(Kind::kXor, a, b, Concrete::bit_xor); }
  Word lsh(Word a, Word b) { return compute(Kind::kLsh, a, b, Concrete::lsh); }
  Word rsh(Word a, Word b) { return compute(Kind::kRsh, a, b, Concrete::rsh); }
  Word neg(Word a) { return sub(constant(0), a); }
  Bool eq(Word a, Word b) { return compare(Comparison::kEq, a, b); }
  Bool ugt(Word a, Word b) { return compare(Comparison::kGt, a, b); }
  Bool uge(Word a, Word b) { return compare(Comparison::kGe, a, b); }
  Bool any_bit(Word a, Word b) { return compare(Comparison::kAnyBit, a, b); }

  [[nodiscard]] bool is_constant(Word word) const { return nodes_[word].kind == Kind::kConstant; }
  // Precondition: it is a constant.
  [[nodiscard]] std::uint32_t number(Word word) const { return nodes_[word].a; }

 private:
  enum class Kind : std::uint32_t {
    kInput,
    kConstant,
    kUnknown,
    kAdd,
    kSub,
    kMul,
    kDiv,
    kAnd,
    kOr,
    kXor,
    kLsh,
    kRsh,
    // 1 if a TEST b, otherwise 0; in the order of Comparison.
    kEq,
    kGt,
    kGe,
    kAnyBit,
  };
  struct Node {
    Kind kind;
    std::uint32_t a;  // terms, or the number
    std::uint32_t b;
  };
  struct Slot {
    std::uint32_t stamp = 0;
    Word word = 0;
  };

  template <class Number>
  Word compute(Kind kind, Word a, Word b, const Number& number) {
    if (is_constant(b)) {
      if (is_constant(a)) return constant(number(nodes_[a].a, nodes_[b].a));
      if (nodes_[b].a == neutral(kind)) return a;
    }
    return intern(kind, a, b);
  }
  // The number k with `a KIND k` = a.
  static constexpr std::uint32_t neutral(Kind kind) {
    if (kind == Kind::kAnd) return 0xffffffff;
    return kind == Kind::kMul || kind == Kind::kDiv ? 1 : 0;
  }
  // Of two terms that are no constants, the comparison is a term itself.
  Bool compare(Comparison test, Word a, Word b) {
    if (is_constant(b)) return {a, test, nodes_[b].a};
    const auto kind =
        static_cast<Kind>(static_cast<std::uint32_t>(Kind::kEq) + static_cast<std::uint32_t>(test));
    return {intern(kind, a, b), Comparison::kEq, 1};
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

  std::vector<Node> nodes_;  // the first 16: the input's words
  std::vector<Slot> table_;  // open addressing; free unless of this stamp
  std::uint32_t stamp_ = 0;
};
static_assert(Domain<Terms>);

}  // namespace secequiv::dd
