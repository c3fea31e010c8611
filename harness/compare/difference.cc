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

const WordSet* Region::condition_on(std::uint32_t word) const {
  const auto at = std::ranges::find(words, word, &WordSet::word);
  return at == words.end() ? nullptr : &*at;
}

bool Region::allows(std::uint32_t word, std::uint32_t value) const {
  const WordSet* set = condition_on(word);
  return set == nullptr || set->contains(value);
}

std::vector<std::size_t> allotted(const std::vector<Change>& changes, std::size_t most) {
  std::vector<std::size_t> out(changes.size());
  for (const bool first : {true, false})
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::size_t left = changes[i].where.regions.size() - out[i];
      const std::size_t more = std::min({left, most, first ? std::size_t{1} : left});
      out[i] += more;
      most -= more;
    }
  return out;
}

}  // namespace secequiv
