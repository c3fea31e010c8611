#include "verify/walk/terms.h"

#include <algorithm>
#include <tuple>

namespace secequiv::walk {

void Terms::clear() {
  nodes_.resize(SeccompData::kWords, Node{Kind::kInput, 0, 0});
  if (++stamp_ != 0) return;
  std::ranges::fill(table_, Slot{});
  stamp_ = 1;
}

std::uint32_t Terms::calculate(Kind kind, std::uint32_t a, std::uint32_t b) {
  switch (kind) {
    case Kind::kAdd:
      return Concrete::add(a, b);
    case Kind::kSub:
      return Concrete::sub(a, b);
    case Kind::kMul:
      return Concrete::mul(a, b);
    case Kind::kDiv:
      // No feasible path divides by 0 here, but an infeasible path may.
      return b == 0 ? 0 : a / b;
    case Kind::kAnd:
      return a & b;
    case Kind::kOr:
      return a | b;
    case Kind::kXor:
      return a ^ b;
    case Kind::kLsh:
      return a << (b & 31);
    default:
      return a >> (b & 31);
  }
}

Terms::Word Terms::bit_and(Word a, Word b) {
  if (is_constant(a)) std::swap(a, b);
  if (!is_constant(b)) return commutative(Kind::kAnd, a, b);
  if (number(b) == 0) return b;
  const Node node = nodes_[a];
  if (node.kind == Kind::kAnd && is_constant(node.b))
    return bit_and(node.a, constant(number(b) & number(node.b)));
  return compute(Kind::kAnd, a, b);
}

Terms::Bool Terms::uge(Word a, Word b) {
  if (a == b) return truth(true);
  if (is_constant(b)) return at_least(a, number(b));
  if (!is_constant(a)) return equal(intern(Kind::kAtLeast, a, b), kAllBits, 1);
  // `k >= word` is the opposite of `word >= k + 1`.
  return number(a) == kAllBits ? truth(true) : negate(at_least(b, number(a) + 1));
}

Terms::Word Terms::intern(Kind kind, std::uint32_t a, std::uint32_t b) {
  const Node node{kind, a, b};
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(node) & mask;
  for (; table_[at].stamp == stamp_; at = (at + 1) & mask) {
    const Node& known = nodes_[table_[at].word];
    if (known.kind == kind && known.a == a && known.b == b) return table_[at].word;
  }
  const Word out = append(node);
  table_[at] = {stamp_, out};
  if (nodes_.size() * 2 > table_.size()) grow();
  return out;
}

void Terms::grow() {
  table_.assign(table_.size() * 4, Slot{});
  const std::size_t mask = table_.size() - 1;
  for (Word word = 0; word < nodes_.size(); ++word) {
    if (nodes_[word].kind == Kind::kInput || nodes_[word].kind == Kind::kUnknown) continue;
    std::size_t at = hash(nodes_[word]) & mask;
    while (table_[at].stamp == stamp_) at = (at + 1) & mask;
    table_[at] = {stamp_, word};
  }
}

}  // namespace secequiv::walk
