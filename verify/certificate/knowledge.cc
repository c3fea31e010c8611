#include "verify/certificate/knowledge.h"

#include <algorithm>
#include <bit>

namespace secequiv::certificate {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
constexpr int kFewBits = 6;

}  // namespace

bool Knowledge::fix(Range& r, std::uint32_t mask, std::uint32_t value) {
  if (((r.bits ^ value) & r.fixed & mask) != 0) return false;
  r.fixed |= mask;
  r.bits |= value & mask;
  return true;
}

// Bounds and bits, each from the other.
bool Knowledge::narrow(Range& r) {
  r.low = std::max(r.low, r.bits);
  r.high = std::min(r.high, r.bits | ~r.fixed);
  if (r.low > r.high) return false;
  const auto differ = static_cast<std::uint32_t>(std::bit_width(r.low ^ r.high));
  return fix(r, differ == 32 ? 0 : kAll << differ, r.low);
}

// Under some mask within `mask`.
bool Knowledge::excluded(Term base, std::uint32_t mask, std::uint32_t value) const {
  work_ += 1 + facts_[base].masks.size();
  for (const std::uint32_t part : facts_[base].masks)
    if ((part & ~mask) == 0 && excluded_.contains({base, part, value & part})) return true;
  return false;
}

// Of a term that has few values left, each is looked at.
bool Knowledge::look_at_few(Term base) {
  Range& r = facts_[base].range;
  if (std::popcount(~r.fixed) > kFewBits) return true;
  std::optional<std::uint32_t> least;
  std::uint32_t most = 0;
  std::uint32_t part = 0;
  do {
    const std::uint32_t value = r.bits | part;
    if (value >= r.low && value <= r.high && !excluded(base, kAll, value)) {
      if (!least) least = value;
      most = value;
    }
    part = (part - ~r.fixed) & ~r.fixed;  // the next subset, in order
  } while (part != 0);
  if (!least) return false;
  r.low = *least;
  r.high = most;
  return true;
}

// To all that follows.
bool Knowledge::close(Term base) {
  Fact& fact = facts_[base];
  Range& r = fact.range;
  for (;;) {
    const Range before = r;
    if (!narrow(r)) return false;
    // As many steps at most as values are excluded one by one.
    for (; excluded_.contains({base, kAll, r.low}); ++r.low, ++work_)
      if (r.low == r.high) return false;
    for (; excluded_.contains({base, kAll, r.high}); --r.high, ++work_)
      if (r.low == r.high) return false;
    work_ += fact.partly.size();
    for (const auto& [mask, value] : fact.partly) {
      if (((r.bits ^ value) & r.fixed & mask) != 0) continue;
      const std::uint32_t open = mask & ~r.fixed;
      if (open == 0) return false;
      if (std::has_single_bit(open) && !fix(r, open, ~value)) return false;
    }
    if (!look_at_few(base)) return false;
    if (before.low == r.low && before.high == r.high && before.fixed == r.fixed) return true;
  }
}

bool Knowledge::learn(const Literal& literal) {
  if (facts_.size() <= literal.base) facts_.resize(literal.base + 1);
  Fact& fact = facts_[literal.base];
  Step step{literal, fact.range, false, false, false};
  bool possible = true;
  if (literal.order && literal.holds) {
    fact.range.low = std::max(fact.range.low, literal.value);
  } else if (literal.order) {
    fact.range.high = std::min(fact.range.high, literal.value - 1);
  } else if (literal.holds) {
    possible = fix(fact.range, literal.mask, literal.value);
  } else {
    step.excluded = excluded_.insert({literal.base, literal.mask, literal.value}).second;
    if (step.excluded && std::ranges::find(fact.masks, literal.mask) == fact.masks.end()) {
      step.mask = true;
      fact.masks.push_back(literal.mask);
    }
    if (step.excluded && literal.mask != kAll) {
      step.partly = true;
      fact.partly.emplace_back(literal.mask, literal.value);
    }
  }
  learned_.push_back(step);
  return possible && close(literal.base);
}

void Knowledge::forget(std::size_t mark) {
  for (; learned_.size() > mark; learned_.pop_back()) {
    const Step& step = learned_.back();
    Fact& fact = facts_[step.literal.base];
    fact.range = step.before;
    if (step.excluded) excluded_.erase({step.literal.base, step.literal.mask, step.literal.value});
    if (step.mask) fact.masks.pop_back();
    if (step.partly) fact.partly.pop_back();
  }
}

std::optional<bool> Knowledge::decide(const Literal& literal) const {
  if (literal.base >= facts_.size()) return std::nullopt;
  const Range& r = facts_[literal.base].range;
  if (literal.order) {
    if (r.low >= literal.value) return true;
    if (r.high < literal.value) return false;
    return std::nullopt;
  }
  if (((r.bits ^ literal.value) & r.fixed & literal.mask) != 0) return false;
  if ((literal.mask & ~r.fixed) == 0) return true;
  if (literal.mask == kAll && (literal.value < r.low || literal.value > r.high)) return false;
  if (excluded(literal.base, literal.mask, literal.value)) return false;
  return std::nullopt;
}

std::vector<Literal> Knowledge::about(Term base) const {
  std::vector<Literal> out;
  for (const Step& step : learned_)
    if (step.literal.base == base) out.push_back(step.literal);
  return out;
}

}  // namespace secequiv::certificate
