// Turns conditions on the bits of a word into intervals of its values. Owns the rule for when this
// is readable. It must not know diagrams or policies.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace secequiv {

// Calls visit(first, last) for each interval of the words w, without bits outside `all`, for which
// (w & mask) == value. Returns false without a call if there are more than a few. Preconditions:
// the types are unsigned; `all` is a run of bits from the lowest on; `mask` and `value` lie within
// it.
template <class Word, class Visit>
bool each_interval(Word mask, Word value, Word all, const Visit& visit) {
  constexpr int kMostGaps = 3;  // free bits above the lowest fixed bit
  const Word tail = mask == 0 ? all : static_cast<Word>((mask & (~mask + 1)) - 1);
  const Word gaps = all & ~mask & ~tail;
  if (std::popcount(gaps) > kMostGaps) return false;
  Word bits = 0;
  do {  // all values of the gaps
    visit(value | bits, value | bits | tail);
    bits = (bits - gaps) & gaps;
  } while (bits != 0);
  return true;
}

// Sorts intervals with the members `first` and `last` (included), and joins those that touch.
// Precondition: they do not overlap.
template <class Interval>
void join_adjacent(std::vector<Interval>& intervals) {
  std::ranges::sort(intervals, {}, &Interval::first);
  std::size_t kept = 0;
  for (const Interval next : intervals) {
    if (kept != 0 && intervals[kept - 1].last + 1 == next.first)
      intervals[kept - 1].last = next.last;
    else
      intervals[kept++] = next;
  }
  intervals.resize(kept);
}

}  // namespace secequiv
