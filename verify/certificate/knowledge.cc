#include "verify/certificate/knowledge.h"

#include <algorithm>
#include <bit>

namespace secequiv::certificate {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
constexpr int kFewBits = 6;

}  // namespace

// Returns whether `base & mask == value` contradicts an excluded value.
bool Knowledge::excluded(Term base, std::uint32_t mask, std::uint32_t value) const {
  work_ += 1 + facts_[base].masks.size();
  for (const std::uint32_t part : facts_[base].masks)
    if ((part & ~mask) == 0 && excluded_.contains({base, part, value & part})) return true;
  return false;
}

// If few bits of a term are unknown, tries each remaining value.
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
    part = (part - ~r.fixed) & ~r.fixed;  // the next subset, in ascending order
  } while (part != 0);
  if (!least) return false;
  r.low = *least;
  r.high = most;
  return true;
}

// Applies all rules until none adds anything.
bool Knowledge::close(Term base) {
  Fact& fact = facts_[base];
  Range& r = fact.range;
  for (;;) {
    const Range before = r;
    if (!r.narrow()) return false;
    // Each iteration consumes one excluded value.
    for (; excluded_.contains({base, kAll, r.low}); ++r.low, ++work_)
      if (r.low == r.high) return false;
    for (; excluded_.contains({base, kAll, r.high}); --r.high, ++work_)
      if (r.low == r.high) return false;
    work_ += fact.partly.size();
    for (const auto& [mask, value] : fact.partly)
      if (!r.exclude(mask, value)) return false;
    if (!look_at_few(base)) return false;
    if (before == r) return true;
  }
}

bool Knowledge::learn(const Literal& literal) {
  if (facts_.size() <= literal.base) facts_.resize(literal.base + 1);
  Fact& fact = facts_[literal.base];
  Step step{literal, fact.range, false, false, false};
  bool possible = true;
  if (literal.order || literal.holds) {
    possible = fact.range.restrict(literal);
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
  const auto outcome = facts_[literal.base].range.decide(literal);
  if (outcome || literal.order) return outcome;
  return excluded(literal.base, literal.mask, literal.value) ? std::optional(false) : std::nullopt;
}

std::vector<Literal> Knowledge::about(Term base) const {
  std::vector<Literal> out;
  for (const Step& step : learned_)
    if (step.literal.base == base) out.push_back(step.literal);
  return out;
}

}  // namespace secequiv::certificate
