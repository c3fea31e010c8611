#include "verify/sat/bit_graph.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace secequiv::sat {
namespace {

// Sets of more operands are not compared. A comparison with a constant has 32, and the parity of
// all input words has 512.
constexpr std::size_t kMostConjuncts = 40;
constexpr std::size_t kMostOdd = 600;
// Once all sets together have this many operands, new sets have at most kFewOperands.
constexpr std::size_t kMostOperands = std::size_t{1} << 23;
constexpr std::size_t kFewOperands = 8;

std::size_t mixed(std::size_t hash, std::uint32_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

bool by_number(std::int32_t a, std::int32_t b) { return std::abs(a) < std::abs(b); }

}  // namespace

std::size_t BitGraph::Hash::operator()(const Operands& operands) const {
  std::size_t out = operands.size();
  for (const Bool operand : operands) out = mixed(out, static_cast<std::uint32_t>(operand));
  return out;
}

std::size_t BitGraph::Hash::operator()(const Bit& bit) const {
  std::size_t out = static_cast<std::size_t>(bit.kind);
  for (const Bool part : {bit.a, bit.b, bit.c}) out = mixed(out, static_cast<std::uint32_t>(part));
  return out;
}

BitGraph::Bool BitGraph::make(const Bit& bit, Operands operands) {
  operands_ += operands.size();
  bits_.push_back(bit);
  sets_of_.push_back(std::move(operands));
  return static_cast<Bool>(bits_.size() - 1);
}

BitGraph::Bool BitGraph::input(std::uint32_t word, std::size_t bit) {
  const Bit made{Kind::kInput, static_cast<Bool>(std::size_t{32} * word + bit), 0, 0};
  const auto [at, added] = others_.try_emplace(made, 0);
  if (added) at->second = make(made, {});
  return at->second;
}

BitGraph::Operands BitGraph::operands_of(Bool bit, Kind kind) const {
  const auto number = static_cast<std::size_t>(std::abs(bit));
  if (bit < 0 || bits_[number].kind != kind) return {bit};
  return sets_of_[number];
}

BitGraph::Bool BitGraph::find_or_make(Sets& sets, Operands operands, const Bit& parts) {
  const auto [at, added] = sets.try_emplace(operands, 0);
  if (added) at->second = make(parts, std::move(operands));
  return at->second;
}

BitGraph::Bool BitGraph::conjunction(Bool a, Bool b) {
  const Operands left = operands_of(a, Kind::kAnd);
  const Operands right = operands_of(b, Kind::kAnd);
  Operands all;
  all.reserve(left.size() + right.size());
  std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(all),
             by_number);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i] == -all[i - 1]) return -1;
  if (all == left) return a;
  if (all == right) return b;
  if (all.size() > (operands_ < kMostOperands ? kMostConjuncts : kFewOperands)) {
    all = {a, b};
    std::ranges::sort(all, by_number);
  }
  return find_or_make(conjunctions_, std::move(all), {Kind::kAnd, a, b, 0});
}

BitGraph::Bool BitGraph::difference(Bool a, Bool b) {
  const Operands left = operands_of(a, Kind::kXor);
  const Operands right = operands_of(b, Kind::kXor);
  Operands odd;
  std::ranges::set_symmetric_difference(left, right, std::back_inserter(odd));
  if (odd.empty()) return -1;
  if (odd.size() == 1) return odd.front();
  if (odd.size() > (operands_ < kMostOperands ? kMostOdd : kFewOperands)) odd = {a, b};
  return find_or_make(differences_, std::move(odd), {Kind::kXor, a, b, 0});
}

BitGraph::Bool BitGraph::choice(Bool c, Bool yes, Bool no) {
  const Bit made{Kind::kMux, c, yes, no};
  const auto [at, added] = others_.try_emplace(made, 0);
  if (added) at->second = make(made, {});
  return at->second;
}

}  // namespace secequiv::sat
