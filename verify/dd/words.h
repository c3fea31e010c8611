// Owns the decision-diagram domain of step<Domain>: 32-bit words as functions of the input, and
// arithmetic on them. It must not know programs (forward.h).
//
// A word is a constant, an input word under a mask, or 32 diagrams, one for each bit. A condition
// is a comparison of an input word with a constant, or a diagram. Filters made by compilers need
// only the simple forms, which use no diagram.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "verify/dd/diagram.h"
#include "verify/dd/order.h"
#include "verify/symbolic/symbolic.h"

namespace secequiv::dd {

// Bit 0 is the least significant.
using Bits = std::array<NodeId, 32>;

struct Word {
  enum class Kind : std::uint8_t { kConstant, kInput, kBits };
  Kind kind = Kind::kConstant;
  std::uint8_t input = 0;   // kInput: index of the word
  std::uint32_t value = 0;  // kConstant: the number; kInput: the mask; kBits: index of the bits

  [[nodiscard]] bool is_constant() const { return kind == Kind::kConstant; }
  friend bool operator==(const Word&, const Word&) = default;
};

struct Condition {
  enum class Kind : std::uint8_t { kFalse, kTrue, kTest, kNode };
  Kind kind = Kind::kFalse;
  Comparison test = Comparison::kEq;  // kTest: (input & mask) TEST k, or its negation
  bool negated = false;
  std::uint8_t input = 0;
  std::uint32_t mask = 0;
  std::uint32_t k = 0;  // kTest: the constant; kNode: the diagram

  [[nodiscard]] bool is(bool value) const { return kind == (value ? Kind::kTrue : Kind::kFalse); }
  // Returns whether the condition compares all 32 bits and splits the word's values into intervals.
  [[nodiscard]] bool splits_word() const {
    return kind == Kind::kTest && mask == 0xffffffff && test != Comparison::kAnyBit;
  }
};

class Words {
 public:
  using Word = dd::Word;
  using Bool = Condition;

  Words(Diagrams& diagrams, const Order& order) : diagrams_(diagrams), order_(order) {}

  [[nodiscard]] Diagrams& diagrams() { return diagrams_; }
  [[nodiscard]] const Order& order() const { return order_; }

  Word constant(std::uint32_t k) { return {Word::Kind::kConstant, 0, k}; }
  Word load(std::uint32_t i);
  Word add(const Word& a, const Word& b);
  Word sub(const Word& a, const Word& b);
  Word mul(const Word& a, const Word& b);
  Word udiv(const Word& a, const Word& b);
  Word bit_and(const Word& a, const Word& b);
  Word bit_or(const Word& a, const Word& b);
  Word bit_xor(const Word& a, const Word& b);
  Word lsh(const Word& a, const Word& b);
  Word rsh(const Word& a, const Word& b);
  Word neg(const Word& a) { return sub(constant(0), a); }
  Bool eq(const Word& a, const Word& b) { return compare(Comparison::kEq, a, b); }
  Bool ugt(const Word& a, const Word& b) { return compare(Comparison::kGt, a, b); }
  Bool uge(const Word& a, const Word& b) { return compare(Comparison::kGe, a, b); }
  Bool any_bit(const Word& a, const Word& b) { return compare(Comparison::kAnyBit, a, b); }

  Bool truth(bool value) {
    Bool out;
    out.kind = value ? Bool::Kind::kTrue : Bool::Kind::kFalse;
    return out;
  }
  Bool both(const Bool& a, const Bool& b);
  Bool either(const Bool& a, const Bool& b);
  Bool negate(const Bool& a);
  Word choose(const Bool& condition, const Word& then, const Word& otherwise);
  bool same(const Word& a, const Word& b) { return a == b; }

  // Returns: if `condition` then `yes` else `no`, for any two diagrams.
  NodeId branch(const Bool& condition, NodeId yes, NodeId no);
  // Returns the set of inputs for which the condition holds.
  NodeId set(const Bool& condition) { return branch(condition, Diagrams::kOne, Diagrams::kZero); }
  Bool condition(NodeId set);
  [[nodiscard]] Bits bits(const Word& word);
  [[nodiscard]] Word word(const Bits& bits);

 private:
  Bool compare(Comparison test, const Word& a, const Word& b);
  NodeId compare_bits(Comparison test, const Bits& a, const Bits& b);
  // The sum of two words and a carry, and the carry out of the highest bit.
  struct Sum {
    Bits bits;
    NodeId carry;
  };
  Sum sum(const Bits& a, const Bits& b, bool carry);
  NodeId exclusive(NodeId a, NodeId b) { return diagrams_.choose(a, diagrams_.negate(b), b); }
  Word shifted(const Word& a, const Word& amount, bool left);

  Diagrams& diagrams_;
  const Order& order_;
  std::vector<Bits> bits_;
  std::map<Bits, std::uint32_t> index_;
};
static_assert(SymbolicDomain<Words>);

}  // namespace secequiv::dd
