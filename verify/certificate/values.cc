#include "verify/certificate/values.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace secequiv::certificate {
namespace {

std::uint32_t number_of(char op, std::uint32_t a, std::uint32_t b) {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      // An impossible path may divide by 0.
      return b == 0 ? 0 : a / b;
    case '&':
      return a & b;
    case '|':
      return a | b;
    case '^':
      return a ^ b;
    case '<':
      return a << (b & 31);
    default:
      return a >> (b & 31);
  }
}

}  // namespace

Values::Values() {
  for (std::uint32_t i = 0; i < std::tuple_size_v<InputWords>; ++i) intern({'w', i, 0});
}

Values::Word Values::bit_and(Word a, Word b) {
  if (is_constant(a)) std::swap(a, b);
  if (!is_constant(b)) return commutative('&', a, b, 0xffffffff);
  const std::uint32_t mask = number(b);
  if (mask == 0) return b;
  const Node node = nodes_[a];
  if (node.op == '&' && is_constant(node.b))
    return bit_and(node.a, constant(mask & number(node.b)));
  return compute('&', a, b, 0xffffffff);
}

Values::Bool Values::eq(Word a, Word b) {
  if (a == b) return truth(true);
  if (is_constant(a)) std::swap(a, b);
  if (is_constant(b)) return equal(a, number(b));
  return equal(intern({'=', std::min(a, b), std::max(a, b)}), 1);
}

Values::Bool Values::uge(Word a, Word b) {
  if (a == b) return truth(true);
  if (is_constant(b)) return at_least(a, number(b));
  if (!is_constant(a)) return equal(intern({'G', a, b}), 1);
  // k >= word unless word >= k + 1
  return number(a) == 0xffffffff ? truth(true) : negate(at_least(b, number(a) + 1));
}

Values::Bool Values::equal(Word word, std::uint32_t k) {
  const Node& node = nodes_[word];
  if (node.op == 'c') return truth(node.a == k);
  const bool masked = node.op == '&' && is_constant(node.b);
  const std::uint32_t mask = masked ? number(node.b) : 0xffffffff;
  if ((k & ~mask) != 0) return truth(false);
  return {false, {masked ? node.a : word, false, true, mask, k}};
}

Values::Bool Values::at_least(Word word, std::uint32_t k) {
  if (k == 0) return truth(true);
  if (is_constant(word)) return truth(number(word) >= k);
  return {false, {word, true, true, 0xffffffff, k}};
}

Values::Word Values::commutative(char op, Word a, Word b, std::uint32_t neutral) {
  if (is_constant(a) || (!is_constant(b) && a > b)) std::swap(a, b);
  return compute(op, a, b, neutral);
}

Values::Word Values::compute(char op, Word a, Word b, std::uint32_t neutral) {
  if (is_constant(b)) {
    if (is_constant(a)) return constant(number_of(op, number(a), number(b)));
    if (number(b) == neutral) return a;
  }
  return intern({op, a, b});
}

Values::Word Values::intern(const Node& node) {
  const auto [at, added] = index_.try_emplace(node, static_cast<Word>(nodes_.size()));
  if (added) nodes_.push_back(node);
  return at->second;
}

}  // namespace secequiv::certificate
