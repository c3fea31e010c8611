#include "verify/sat/words.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace secequiv::sat {
namespace {

// Larger sums and products are not expanded; equal ones can still be found bit by bit.
constexpr std::size_t kMostTerms = 64;
constexpr std::size_t kMostFactors = 6;

}  // namespace

Words::Words() { word({}, Sum{}); }

std::optional<std::uint32_t> Words::number(Word a) const {
  const Operation& how = operations_[a];
  return how.kind == Kind::kConstant ? std::optional(how.a) : std::nullopt;
}

std::optional<Words::Sum> Words::plus(const Sum& a, const Sum& b, std::uint32_t times_b) {
  Sum out;
  out.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->key() < right->key())) {
      out.push_back(*left++);
    } else if (left == a.end() || right->key() < left->key()) {
      out.push_back(*right++);
      out.back().k *= times_b;
    } else {
      out.push_back(*left++);
      out.back().k += times_b * (right++)->k;
    }
    if (out.back().k == 0) out.pop_back();
  }
  return out.size() <= kMostTerms ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Words::Sum> Words::times(const Sum& a, const Sum& b) {
  if (a.size() * b.size() > kMostTerms) return std::nullopt;
  std::map<std::pair<Bool, std::vector<Word>>, std::uint32_t> terms;
  for (const Term& left : a) {
    for (const Term& right : b) {
      const Bool condition = bits_.both(left.condition, right.condition);
      if (condition == -1) continue;
      std::vector<Word> words;
      std::ranges::merge(left.words, right.words, std::back_inserter(words));
      if (condition < 0 || words.size() > kMostFactors) return std::nullopt;
      terms[{condition, std::move(words)}] += left.k * right.k;
    }
  }
  Sum out;
  for (auto& [key, k] : terms)
    if (k != 0) out.push_back({key.first, key.second, k});
  return out;
}

Words::Word Words::word(const Operation& how, const std::optional<Sum>& sum) {
  if (!sum) return opaque(how);
  const auto [at, added] = by_sum_.try_emplace(*sum, static_cast<Word>(operations_.size()));
  if (added) {
    operations_.push_back(how);
    sums_.push_back(*sum);
    bits_of_.emplace_back();
  }
  return at->second;
}

Words::Word Words::opaque(const Operation& how) {
  const auto next = static_cast<Word>(operations_.size());
  const auto [at, added] = by_operation_.try_emplace(how, next);
  if (added) word(how, Sum{{1, {next}, 1}});
  return at->second;
}

Words::Word Words::constant(std::uint32_t k) {
  return word({Kind::kConstant, k, 0, 1}, k == 0 ? Sum{} : Sum{{1, {}, k}});
}

Words::Word Words::load(std::uint32_t word) { return opaque({Kind::kLoad, word, 0, 1}); }

Words::Word Words::add(Word a, Word b) {
  const auto [low, high] = std::minmax({a, b});
  return word({Kind::kAdd, low, high, 1}, plus(sums_[a], sums_[b], 1));
}

Words::Word Words::sub(Word a, Word b) {
  return word({Kind::kSub, a, b, 1}, plus(sums_[a], sums_[b], ~0U));
}

Words::Word Words::mul(Word a, Word b) {
  // Multiplying by a constant takes fewest bits if the constant is second.
  const bool swapped = number(a) || (!number(b) && a > b);
  const auto sum = times(sums_[a], sums_[b]);
  return word({Kind::kMul, swapped ? b : a, swapped ? a : b, 1}, sum);
}

Words::Word Words::udiv(Word a, Word b) {
  const auto divisor = number(b);
  if (!divisor || *divisor == 0) return opaque({Kind::kDivide, a, b, 1});
  if (const auto value = number(a)) return constant(*value / *divisor);
  if (*divisor == 1) return a;
  const Operation inner = operations_[a];
  if (const auto first = number(inner.b); inner.kind == Kind::kDivide && first && *first != 0) {
    const std::uint64_t product = std::uint64_t{*first} * *divisor;
    return product >> 32 != 0 ? constant(0)
                              : udiv(inner.a, constant(static_cast<std::uint32_t>(product)));
  }
  return opaque({Kind::kDivide, a, b, 1});
}

Words::Word Words::bit_and(Word a, Word b) {
  if (a == b) return a;
  if (number(a)) std::swap(a, b);
  if (const auto mask = number(b)) {
    if (const auto value = number(a)) return constant(*value & *mask);
    if (*mask == 0) return b;
    if (*mask == ~0U) return a;
    const Operation inner = operations_[a];
    if (const auto first = number(inner.b); inner.kind == Kind::kAnd && first)
      return bit_and(inner.a, constant(*first & *mask));
    return opaque({Kind::kAnd, a, b, 1});
  }
  const auto [low, high] = std::minmax({a, b});
  return opaque({Kind::kAnd, low, high, 1});
}

// a | b = a + b - (a & b)
Words::Word Words::bit_or(Word a, Word b) {
  const auto sum = plus(sums_[a], sums_[b], 1);
  const Word common = bit_and(a, b);
  const auto [low, high] = std::minmax({a, b});
  return word({Kind::kOr, low, high, 1}, sum ? plus(*sum, sums_[common], ~0U) : std::nullopt);
}

// a ^ b = a + b - 2 * (a & b)
Words::Word Words::bit_xor(Word a, Word b) {
  const auto sum = plus(sums_[a], sums_[b], 1);
  const Word common = bit_and(a, b);
  const auto [low, high] = std::minmax({a, b});
  return word({Kind::kXor, low, high, 1}, sum ? plus(*sum, sums_[common], ~1U) : std::nullopt);
}

Words::Word Words::lsh(Word a, Word b) {
  const auto count = number(b);
  if (!count) return opaque({Kind::kLeft, a, b, 1});
  const Sum factor{{1, {}, 1U << (*count & 31)}};
  return word({Kind::kLeft, a, b, 1}, times(sums_[a], factor));
}

Words::Word Words::rsh(Word a, Word b) {
  const auto count = number(b);
  return count ? udiv(a, constant(1U << (*count & 31))) : opaque({Kind::kRight, a, b, 1});
}

bool Words::is_above(Bool condition, Word a, Word b) const {
  const auto known = above_.find({a, b});
  if (known != above_.end() && known->second == condition) return true;
  // If a and b are equal, it does not matter which one is chosen.
  const auto opposite = above_.find({b, a});
  return opposite != above_.end() && opposite->second == -condition;
}

Words::Word Words::choose(Bool condition, Word yes, Word no) {
  if (condition < 0) {
    condition = -condition;
    std::swap(yes, no);
  }
  if (condition == 1 || yes == no) return yes;
  if (const bool larger = is_above(condition, yes, no); larger || is_above(condition, no, yes)) {
    const auto [low, high] = std::minmax({yes, no});
    return opaque({larger ? Kind::kLarger : Kind::kSmaller, low, high, 1});
  }
  std::optional<Sum> sum = plus(sums_[yes], sums_[no], ~0U);
  if (sum) sum = times(*sum, Sum{{condition, {}, 1}});
  if (sum) sum = plus(sums_[no], *sum, 1);
  return word({Kind::kChoose, yes, no, condition}, sum);
}

// Equal differences are equal conditions, and so are opposite ones.
Words::Bool Words::eq(Word a, Word b) {
  if (a == b) return 1;
  auto difference = plus(sums_[a], sums_[b], ~0U);
  if (!difference) return bits_.eq(bits_of(a), bits_of(b));
  if (difference->size() == 1 && difference->front().words.empty() &&
      difference->front().condition == 1)
    return -1;
  const Sum opposite = *plus({}, *difference, ~0U);
  const auto [at, added] = zero_.try_emplace(std::min(*difference, opposite), 0);
  if (added) at->second = bits_.eq(bits_of(a), bits_of(b));
  return at->second;
}

Words::Bool Words::ugt(Word a, Word b) {
  if (a == b) return -1;
  if (const auto left = number(a), right = number(b); left && right) return truth(*left > *right);
  if (const auto known = above_.find({a, b}); known != above_.end()) return known->second;
  // The smaller of two words is above a constant if both are, whichever is the smaller one.
  const Word compared = number(b) ? a : b;
  const Operation how = operations_[compared];
  const bool one_of_two = how.kind == Kind::kSmaller || how.kind == Kind::kLarger;
  Bool out = -1;
  if (one_of_two && (number(a) || number(b))) {
    const Bool first = compared == a ? ugt(how.a, b) : ugt(a, how.a);
    const Bool second = compared == a ? ugt(how.b, b) : ugt(a, how.b);
    const bool needs_both = (how.kind == Kind::kSmaller) == (compared == a);
    out = needs_both ? both(first, second) : either(first, second);
  } else {
    out = bits_.ugt(bits_of(a), bits_of(b));
  }
  above_.emplace(std::pair(a, b), out);
  return out;
}

// Computes the bits of operands first. An operation may be deep, so this does not recurse.
const Bits::Word& Words::bits_of(Word wanted) {
  std::vector<Word> todo{wanted};
  while (!todo.empty()) {
    const Word now = todo.back();
    const Operation& how = operations_[now];
    const std::size_t before = todo.size();
    if (!bits_of_[now] && how.kind != Kind::kConstant && how.kind != Kind::kLoad)
      for (const Word operand : {how.a, how.b})
        if (!bits_of_[operand]) todo.push_back(operand);
    if (todo.size() > before) continue;
    todo.pop_back();
    if (bits_of_[now]) continue;
    gives_up(0);
    bits_of_[now] = exhausted_ ? Bits::constant(0) : compute(how);
  }
  return *bits_of_[wanted];
}

Bits::Word Words::compute(const Operation& how) {
  if (how.kind == Kind::kConstant) return Bits::constant(how.a);
  if (how.kind == Kind::kLoad) return bits_.load(how.a);
  const Bits::Word& a = *bits_of_[how.a];
  const Bits::Word& b = *bits_of_[how.b];
  switch (how.kind) {
    case Kind::kAdd:
      return bits_.add(a, b);
    case Kind::kSub:
      return bits_.sub(a, b);
    case Kind::kMul:
      return bits_.mul(a, b);
    case Kind::kDivide:
      if (const auto divisor = number(how.b); divisor && std::has_single_bit(*divisor))
        return bits_.rsh(a, Bits::constant(static_cast<std::uint32_t>(std::countr_zero(*divisor))));
      return bits_.udiv(a, b);
    case Kind::kAnd:
      return bits_.bit_and(a, b);
    case Kind::kOr:
      return bits_.bit_or(a, b);
    case Kind::kXor:
      return bits_.bit_xor(a, b);
    case Kind::kLeft:
      return bits_.lsh(a, b);
    case Kind::kRight:
      return bits_.rsh(a, b);
    case Kind::kSmaller:
      return bits_.choose(ugt(how.a, how.b), b, a);
    case Kind::kLarger:
      return bits_.choose(ugt(how.a, how.b), a, b);
    default:
      return bits_.choose(how.condition, a, b);
  }
}

}  // namespace secequiv::sat
