// Turns conditions on the two halves of a 64-bit field into one condition on the field, so that
// readers see `arg0 != 0x5` and not `arg0.hi == 0x0 && arg0.lo != 0x5 || arg0.hi >= 0x1`. Owns when
// that is possible. It must not know how conditions are written.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "harness/compare/difference.h"
#include "harness/seccomp/assumption.h"

namespace secequiv {

// Sorted, neither overlapping nor adjacent.
using Ranges = std::vector<Assumption::Range>;

// Returns the values up to `top` that are not in the ranges.
Ranges complement(const Ranges& ranges, std::uint64_t top);
// Counts the numbers that a list of the ranges shows: one for a value, two for a range.
std::size_t number_count(const Ranges& ranges);
// Counts the numbers that a list of the set's intervals shows.
std::size_t number_count(const WordSet& set);

// Returns the values of one word, unless bit masks describe some of them.
std::optional<Ranges> values_of(const WordSet& set);
// Returns the values of a 64-bit field under the conditions on its halves, which may be null.
// Returns nothing if there are bit masks, or too many ranges for a reader.
std::optional<Ranges> values_of(const WordSet* high, const WordSet* low);

struct FoldedRegion {
  Region region;  // its words are those that no entry of `fields` describes
  Endian endian = Endian::kLittle;
  std::map<int, Ranges> fields = {};    // the values of whole fields (kIpField or an argument)
  std::vector<std::size_t> parts = {};  // indices of the regions that were joined
};

// Joins regions that differ in only one 64-bit field, until no two can be joined. The result has
// the same inputs as `regions`, and the same `parts`. Returns a very long list unchanged.
std::vector<FoldedRegion> fold(std::vector<FoldedRegion> regions);

}  // namespace secequiv
