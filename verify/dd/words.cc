#include "verify/dd/words.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kWordBits = 32;
constexpr std::uint32_t kAllOnes = 0xffffffff;

// Once a limit is reached, operands and results are arbitrary.
bool holds(Comparison test, std::uint32_t a, std::uint32_t b) {
  switch (test) {
    case Comparison::kEq:
      return a == b;
    case Comparison::kGt:
      return a > b;
    case Comparison::kGe:
      return a >= b;
    case Comparison::kAnyBit:
      return (a & b) != 0;
  }
  return false;
}

Bits shift_bits(const Bits& bits, std::uint32_t amount, bool left) {
  Bits out;
  for (std::uint32_t i = 0; i < kWordBits; ++i) {
    const std::uint32_t from = left ? i - amount : i + amount;  // wraps if out of range
    out[i] = from < kWordBits ? bits[from] : Diagrams::kZero;
  }
  return out;
}

}  // namespace

Word Words::load(std::uint32_t i) {
  if (order_.whole(i)) return {Word::Kind::kInput, static_cast<std::uint8_t>(i), kAllOnes};
  Bits out;
  for (std::uint32_t bit = 0; bit < kWordBits; ++bit)
    out[bit] = diagrams_.literal(order_.level(i, bit));
  return word(out);
}

Bits Words::bits(const Word& word) {
  if (word.kind == Word::Kind::kBits) return bits_[word.value];
  Bits out;
  for (std::uint32_t bit = 0; bit < kWordBits; ++bit) {
    const bool set = (word.value >> bit & 1) != 0;
    if (word.is_constant()) {
      out[bit] = set ? Diagrams::kOne : Diagrams::kZero;
    } else {
      out[bit] = set ? diagrams_.literal(order_.level(word.input, bit)) : Diagrams::kZero;
    }
  }
  return out;
}

Word Words::word(const Bits& bits) {
  if (std::ranges::all_of(bits, [](NodeId b) { return b <= Diagrams::kOne; })) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < kWordBits; ++i) value |= bits[i] << i;
    return constant(value);
  }
  // The bits may be those of an input word under a mask.
  const auto some = std::ranges::find_if(bits, [](NodeId b) { return b > Diagrams::kOne; });
  const Node& top = diagrams_.node(*some);
  if (top.level != kLeaf && order_.whole(order_.word(top.level))) {
    const std::uint32_t input = order_.word(top.level);
    std::uint32_t mask = 0;
    bool matches = true;
    for (std::uint32_t i = 0; i < kWordBits && matches; ++i) {
      if (bits[i] == Diagrams::kZero) continue;
      matches = bits[i] == diagrams_.literal(order_.level(input, i));
      mask |= 1u << i;
    }
    if (matches) return {Word::Kind::kInput, static_cast<std::uint8_t>(input), mask};
  }
  const auto [at, is_new] = index_.try_emplace(bits, static_cast<std::uint32_t>(bits_.size()));
  if (is_new) bits_.push_back(bits);
  return {Word::Kind::kBits, 0, at->second};
}

Words::Sum Words::sum(const Bits& a, const Bits& b, bool carry) {
  Sum out;
  out.carry = carry ? Diagrams::kOne : Diagrams::kZero;
  for (std::uint32_t i = 0; i < kWordBits && !diagrams_.exhausted(); ++i) {
    const NodeId differ = exclusive(a[i], b[i]);
    out.bits[i] = exclusive(differ, out.carry);
    out.carry = diagrams_.choose(differ, out.carry, a[i]);
  }
  if (diagrams_.exhausted()) out.bits.fill(Diagrams::kZero);
  return out;
}

Word Words::add(const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return constant(a.value + b.value);
  if (b == constant(0)) return a;
  if (a == constant(0)) return b;
  return word(sum(bits(a), bits(b), false).bits);
}

Word Words::sub(const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return constant(a.value - b.value);
  if (b == constant(0)) return a;
  if (a == b) return constant(0);
  return word(sum(bits(a), bits(bit_xor(b, constant(kAllOnes))), true).bits);
}

Word Words::mul(const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return constant(a.value * b.value);
  if (a.is_constant()) return mul(b, a);
  if (b.is_constant() && std::has_single_bit(b.value))
    return shifted(a, constant(static_cast<std::uint32_t>(std::countr_zero(b.value))), true);
  const Bits factor = bits(b);
  Word out = constant(0);
  for (std::uint32_t i = 0; i < kWordBits && !diagrams_.exhausted(); ++i)
    if (factor[i] != Diagrams::kZero)
      out = add(out, choose(condition(factor[i]), shifted(a, constant(i), true), constant(0)));
  return out;
}

// Long division: the remainder is doubled and takes the next bit, and the divisor is subtracted if
// possible. Nothing is lost by the doubling, because the remainder is at most half of the dividend.
Word Words::udiv(const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return constant(b.value == 0 ? 0 : a.value / b.value);
  if (b.is_constant() && std::has_single_bit(b.value))
    return shifted(a, constant(static_cast<std::uint32_t>(std::countr_zero(b.value))), false);
  const Bits dividend = bits(a);
  const Bits divisor_complement = bits(bit_xor(b, constant(kAllOnes)));
  Bits left = bits(constant(0));
  Bits quotient{};
  for (std::uint32_t i = kWordBits; i-- > 0 && !diagrams_.exhausted();) {
    left = shift_bits(left, 1, true);
    left[0] = dividend[i];
    const Sum reduced = sum(left, divisor_complement, true);
    quotient[i] = reduced.carry;
    for (std::uint32_t j = 0; j < kWordBits && !diagrams_.exhausted(); ++j)
      left[j] = diagrams_.choose(quotient[i], reduced.bits[j], left[j]);
  }
  return word(quotient);
}

Word Words::bit_and(const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return constant(a.value & b.value);
  if (a.is_constant()) return bit_and(b, a);
  const bool masks = a.kind == Word::Kind::kInput &&
                     (b.is_constant() || (b.kind == Word::Kind::kInput && b.input == a.input));
  if (masks) {
    const std::uint32_t mask = a.value & b.value;
    return mask == 0 ? constant(0) : Word{Word::Kind::kInput, a.input, mask};
  }
  Bits out = bits(a);
  const Bits other = bits(b);
  for (std::uint32_t i = 0; i < kWordBits; ++i) out[i] = diagrams_.both(out[i], other[i]);
  return word(out);
}

Word Words::bit_or(const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return constant(a.value | b.value);
  if (b == constant(0)) return a;
  Bits out = bits(a);
  const Bits other = bits(b);
  for (std::uint32_t i = 0; i < kWordBits; ++i) out[i] = diagrams_.either(out[i], other[i]);
  return word(out);
}

Word Words::bit_xor(const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return constant(a.value ^ b.value);
  if (b == constant(0)) return a;
  Bits out = bits(a);
  const Bits other = bits(b);
  for (std::uint32_t i = 0; i < kWordBits; ++i) out[i] = exclusive(out[i], other[i]);
  return word(out);
}

Word Words::lsh(const Word& a, const Word& b) { return shifted(a, b, true); }
Word Words::rsh(const Word& a, const Word& b) { return shifted(a, b, false); }

Word Words::shifted(const Word& a, const Word& amount, bool left) {
  if (amount.is_constant()) {
    const std::uint32_t by = amount.value & 31;
    if (a.is_constant()) return constant(left ? a.value << by : a.value >> by);
    return by == 0 ? a : word(shift_bits(bits(a), by, left));
  }
  Bits out = bits(a);
  const Bits by = bits(amount);
  for (std::uint32_t stage = 0; stage < 5; ++stage) {
    const Bits moved = shift_bits(out, 1u << stage, left);
    for (std::uint32_t i = 0; i < kWordBits; ++i)
      out[i] = diagrams_.choose(by[stage], moved[i], out[i]);
  }
  return word(out);
}

Condition Words::compare(Comparison test, const Word& a, const Word& b) {
  if (a.is_constant() && b.is_constant()) return truth(holds(test, a.value, b.value));
  if (a == b && test != Comparison::kAnyBit) return truth(test != Comparison::kGt);
  if (a.kind == Word::Kind::kInput && b.is_constant()) {
    Condition out;
    out.kind = Condition::Kind::kTest;
    out.test = test;
    out.input = a.input;
    out.mask = a.value;
    out.k = b.value;
    return out;
  }
  if (a.is_constant()) {
    if (test == Comparison::kEq || test == Comparison::kAnyBit) return compare(test, b, a);
    // k > w is the opposite of w >= k, and k >= w is the opposite of w > k.
    return negate(compare(test == Comparison::kGt ? Comparison::kGe : Comparison::kGt, b, a));
  }
  return condition(compare_bits(test, bits(a), bits(b)));
}

NodeId Words::compare_bits(Comparison test, const Bits& a, const Bits& b) {
  NodeId out =
      test == Comparison::kEq || test == Comparison::kGe ? Diagrams::kOne : Diagrams::kZero;
  for (std::uint32_t i = 0; i < kWordBits && !diagrams_.exhausted(); ++i) {
    switch (test) {
      case Comparison::kEq:
        out = diagrams_.choose(exclusive(a[i], b[i]), Diagrams::kZero, out);
        break;
      case Comparison::kAnyBit:
        out = diagrams_.either(diagrams_.both(a[i], b[i]), out);
        break;
      default:
        out = diagrams_.choose(exclusive(a[i], b[i]), a[i], out);
        break;
    }
  }
  return out;
}

Condition Words::condition(NodeId set) {
  if (set <= Diagrams::kOne) return truth(set == Diagrams::kOne);
  Condition out;
  out.kind = Condition::Kind::kNode;
  out.k = set;
  return out;
}

Condition Words::both(const Condition& a, const Condition& b) {
  if (a.is(true) || b.is(false)) return b;
  if (b.is(true) || a.is(false)) return a;
  return condition(diagrams_.both(set(a), set(b)));
}

Condition Words::either(const Condition& a, const Condition& b) {
  if (a.is(false) || b.is(true)) return b;
  if (b.is(false) || a.is(true)) return a;
  return condition(diagrams_.either(set(a), set(b)));
}

Condition Words::negate(const Condition& a) {
  Condition out = a;
  switch (a.kind) {
    case Condition::Kind::kFalse:
    case Condition::Kind::kTrue:
      return truth(a.is(false));
    case Condition::Kind::kTest:
      out.negated = !a.negated;
      return out;
    case Condition::Kind::kNode:
      return condition(diagrams_.negate(a.k));
  }
  return out;
}

Word Words::choose(const Condition& condition, const Word& then, const Word& otherwise) {
  if (condition.is(true) || then == otherwise) return then;
  if (condition.is(false)) return otherwise;
  Bits out = bits(then);
  const Bits other = bits(otherwise);
  for (std::uint32_t i = 0; i < kWordBits && !diagrams_.exhausted(); ++i)
    out[i] = branch(condition, out[i], other[i]);
  return word(out);
}

NodeId Words::branch(const Condition& condition, NodeId yes, NodeId no) {
  switch (condition.kind) {
    case Condition::Kind::kFalse:
      return no;
    case Condition::Kind::kTrue:
      return yes;
    case Condition::Kind::kTest:
      return diagrams_.test(condition.test, order_.position(condition.input), condition.mask,
                            condition.k, condition.negated ? no : yes,
                            condition.negated ? yes : no);
    case Condition::Kind::kNode:
      return diagrams_.choose(condition.k, yes, no);
  }
  return no;
}

}  // namespace secequiv::dd
