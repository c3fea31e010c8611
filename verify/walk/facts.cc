#include "verify/walk/facts.h"

#include <algorithm>
#include <span>

namespace secequiv::walk {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;

// Moves `element` to the front of the first `count` elements. A new element replaces the last one
// if the array is full.
template <class Element, std::size_t kSize, class Count, class Same>
void move_to_front(std::array<Element, kSize>& elements, Count& count, const Element& element,
                   const Same& same) {
  Count at = 0;
  while (at < count && !same(elements[at])) ++at;
  if (at == kSize) --at;
  if (at == count) ++count;
  for (; at > 0; --at) elements[at] = elements[at - 1];
  elements[0] = element;
}

}  // namespace

bool Fact::learn(const Literal& literal) {
  if (literal.order || literal.holds) return range_.restrict(literal) && range_.narrow();
  const auto [mask, value] = std::pair(literal.mask, literal.value);
  if (mask == kAll && range_.low == value) {
    if (range_.high == value) return false;
    ++range_.low;
  } else if (mask == kAll && range_.high == value) {
    --range_.high;
  }
  // A value that has a bit of the mask set is at least the lowest bit of the mask.
  if (value == 0) range_.low = std::max(range_.low, mask & (~mask + 1));
  exclude({mask, value});
  return range_.exclude(mask, value) && range_.narrow();
}

std::optional<bool> Fact::decide(const Literal& literal) const {
  if (const auto outcome = range_.decide(literal); outcome || literal.order) return outcome;
  return excludes(literal.mask, literal.value) ? std::optional(false) : std::nullopt;
}

void Fact::exclude(const Excluded& excluded) {
  move_to_front(excluded_, excluded_count_, excluded,
                [&](const Excluded& e) { return e == excluded; });
}

// Returns whether `term & mask == value` contradicts an excluded value, whose mask must be part of
// `mask`.
bool Fact::excludes(std::uint32_t mask, std::uint32_t value) const {
  return std::ranges::any_of(std::span(excluded_).first(excluded_count_), [&](const Excluded& e) {
    return (e.mask & ~mask) == 0 && (value & e.mask) == e.value;
  });
}

void Fact::join(const Fact& other, Term term) {
  const Fact mine = *this;
  term_ = term;
  range_.join(other.range_);
  excluded_count_ = 0;
  for (const auto& [from, beside] : {std::pair(&other, &mine), std::pair(&mine, &other)})
    for (std::uint32_t i = from->excluded_count_; i-- > 0;) {
      const auto [mask, value] = from->excluded_[i];
      if (beside->decide({0, false, true, mask, value}) == false) exclude({mask, value});
    }
}

Fact Facts::about(Term term, const Terms& terms) const {
  if (const Fact* const fact = find(term)) return *fact;
  return terms.is_constant(term) ? Fact::constant(term, terms.number(term)) : Fact(term);
}

bool Facts::learn(const Literal& literal) {
  const Fact* const known = find(literal.base);
  Fact fact = known != nullptr ? *known : Fact(literal.base);
  if (!fact.learn(literal)) return false;
  put(fact);
  return true;
}

void Facts::put(const Fact& fact) {
  move_to_front(facts_, count_, fact, [&](const Fact& f) { return f.term() == fact.term(); });
}

}  // namespace secequiv::walk
