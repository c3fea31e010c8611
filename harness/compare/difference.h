// Sets of inputs in a form that people read, and everything two filters differ in. Owns those
// shapes; verify/dd fills them, report/ renders them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/seccomp/data.h"

namespace secequiv {

// A condition on one 32-bit word of seccomp_data: it lies in one of the intervals, or
// (word & mask) == value for one of the cubes, no value meeting two of them; or, if `negated`, it
// lies in the cube `base` and does none of that.
struct WordSet {
  struct Interval {
    std::uint32_t first;
    std::uint32_t last;  // included
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  struct Cube {
    std::uint32_t mask;
    std::uint32_t value;
    friend bool operator==(const Cube&, const Cube&) = default;
  };
  std::uint32_t word = 0;
  std::uint32_t example = 0;  // a value that meets the condition
  bool negated = false;
  Cube base = {0, 0};
  std::vector<Interval> intervals;
  std::vector<Cube> cubes;

  [[nodiscard]] bool contains(std::uint32_t value) const;
  friend bool operator==(const WordSet&, const WordSet&) = default;
};

// All inputs that meet every condition; words not named are free.
struct Region {
  std::vector<WordSet> words;  // by word number, each at most once
  std::string count;           // decimal, of 2^512 inputs

  // One of its inputs, the words not named 0.
  [[nodiscard]] SeccompData example() const;

  friend bool operator==(const Region&, const Region&) = default;
};

// Disjoint regions that make up a set, as many as were wanted.
struct RegionList {
  std::vector<Region> regions;
  std::string count;         // of inputs in the whole set, decimal
  std::string region_count;  // how many regions make up the whole set, decimal

  // Are the first `shown` regions all of them?
  [[nodiscard]] bool is_all(std::size_t shown) const {
    return std::to_string(shown) == region_count;
  }
};

// A return value, of which less may be known where it is computed from the input.
struct ReturnValue {
  std::optional<std::uint32_t> value;   // nothing: computed
  std::optional<std::uint32_t> action;  // the upper half, if that is the same for all inputs

  friend auto operator<=>(const ReturnValue&, const ReturnValue&) = default;
};

// Everything for which one return value became another.
struct Change {
  ReturnValue before;
  ReturnValue after;
  RegionList where;

  [[nodiscard]] bool computed() const { return !before.value || !after.value; }
};

struct Difference {
  std::vector<Change> changes;  // disjoint; by `before`, then `after`
  std::string count;            // of all inputs that differ, decimal
};

}  // namespace secequiv
