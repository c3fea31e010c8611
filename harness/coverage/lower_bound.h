// Lower bounds for every filter that makes the same decisions as a given one. Owns these figures.
// It must not know how they are found (verify/bound).
#pragma once

#include <cstddef>
#include <cstdint>

namespace secequiv {

// Bounds for filters of one kind.
struct LeastCost {
  double mean = 0;               // executed instructions for each call of a profile
  double mean_uncached = 0;      // the same for a kernel without a cache
  std::size_t instructions = 0;  // of the filter
};

struct LowerBound {
  LeastCost any = {};  // valid for all filters
  // Valid for filters that test one word of the input at a time, compare arch and nr only with
  // constants (jeq, jge, jgt), and return constants.
  LeastCost comparing = {};
  std::uint64_t calls = 0;      // calls of the profile
  std::uint64_t by_number = 0;  // those whose decision depends on nothing but arch and number
};

}  // namespace secequiv
