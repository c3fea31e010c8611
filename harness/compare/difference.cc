#include "harness/compare/difference.h"

#include <algorithm>

namespace secequiv {

bool WordSet::contains(std::uint32_t value) const {
  const bool inside =
      std::ranges::any_of(intervals,
                          [&](const Interval& i) { return i.first <= value && value <= i.last; }) ||
      std::ranges::any_of(cubes, [&](const Cube& c) { return (value & c.mask) == c.value; });
  return inside != negated && (value & base.mask) == base.value;
}

SeccompData Region::example() const {
  SeccompData out;
  for (const WordSet& set : words) out.words[set.word] = set.example;
  return out;
}

}  // namespace secequiv
