// Divides the values of one word into ranges with one function of the other words each. Owns this
// division. It must not know what the ranges are used for.
#pragma once

#include <optional>
#include <vector>

#include "verify/dd/space.h"

namespace secequiv::dd {

// The values first..last of a word, and what the function becomes for each of them.
struct WordRange {
  std::uint32_t first;
  std::uint32_t last;
  NodeId then;
};

// Returns the ranges of `word` in ascending order. Together they have all values, and neighbours
// differ. Returns nothing if there are more than `most`, if the function tests another word before
// this one or tests their bits in turn, or if the space is exhausted.
std::optional<std::vector<WordRange>> ranges(Space& space, NodeId function, std::uint32_t word,
                                             std::size_t most);

// Returns how many ranges of `word` the function has, however many they are. Returns nothing if it
// tests another word before this one or tests their bits in turn. Meaningless if the space is
// exhausted.
std::optional<double> range_count(Space& space, NodeId function, std::uint32_t word);

}  // namespace secequiv::dd
